/**
 * Perfect negotiation (W3C WebRTC 1.0 §10.7) of one RTCPeerConnection over a channel that may lose, duplicate and reorder. Signals and our own
 * offers are handled strictly in sequence, so that "making an offer" is the signaling state itself. The pattern assumes reliable delivery, which
 * the channel does not give; a watchdog repairs losses: an offer without an answer is sent again in its current form (with the candidates gathered
 * since), a duplicate offer gets its answer again, and candidates are repeated until there is a connection.
 */
import type { Candidate, CandidatesSignal, DescriptionSignal, LinkSignal, RoleOfMid } from './payload.ts';
import type { Clock } from '../ports.ts';

export interface NegotiationOptions {
  readonly connection: RTCPeerConnection;
  readonly session: number;
  /** In a collision the polite side rolls back its offer, once an offer of its own was answered before. */
  readonly polite: boolean;
  readonly clock: Clock;
  send(signal: LinkSignal): void;
  /** The roles of our media sections at this moment. */
  roles(): RoleOfMid[];
  /** The remote description is set: our tracks can be added before the answer is created. */
  onRemote(roles: readonly RoleOfMid[]): void;
  /** Offer and answer were exchanged. */
  onStable(): void;
  /** The negotiation of this connection failed. */
  onStuck(): void;
}

/** Two repairs fit into the five seconds within which a lost signal must be repaired. */
const REPAIR_MS = 2000;
/** After this many repairs without progress the connection is replaced. */
const REPAIRS = 5;
/** Candidates come in bursts: one message holds those gathered within about a frame. */
const BATCH_MS = 20;
/** A device with many addresses and TURN servers gathers about 40. */
const MAX_CANDIDATES = 200;

export class Negotiation {
  readonly #options: NegotiationOptions;
  #tail: Promise<void> = Promise.resolve();
  #closed = false;
  /** The number of our latest offer, and of the latest remote offer that we answered. */
  #round = 0;
  #answeredRound = 0;
  #repairs = 0;
  #cancelRepair: (() => void) | null = null;
  #cancelFlush: (() => void) | null = null;
  #gathered: Candidate[] = [];
  #unsent: Candidate[] = [];
  /** Candidates that arrived before their description. */
  #early: Candidate[] = [];
  #remoteFragments: ReadonlySet<string> = new Set();
  readonly #onNegotiationNeeded = (): void => this.#enqueue(async () => this.#offer());
  readonly #onCandidate = (event: RTCPeerConnectionIceEvent): void => this.#collect(event.candidate);

  constructor(options: NegotiationOptions) {
    this.#options = options;
    options.connection.addEventListener('negotiationneeded', this.#onNegotiationNeeded);
    options.connection.addEventListener('icecandidate', this.#onCandidate);
  }

  /** Takes a signal of this session. */
  handle(signal: DescriptionSignal | CandidatesSignal): void {
    this.#enqueue(async () => {
      if (signal.type === 'candidates') await this.#addCandidates(signal.candidates);
      else if (signal.kind === 'offer') await this.#takeOffer(signal);
      else await this.#takeAnswer(signal);
    });
  }

  /** A sent signal may be lost, or the other side is reachable again: repairs now. */
  nudge(): void {
    this.#enqueue(async () => this.#repair());
  }

  /** Whether an answer was ever exchanged. */
  get settled(): boolean {
    return this.#options.connection.currentRemoteDescription !== null;
  }

  close(): void {
    this.#closed = true;
    this.#cancelRepair?.();
    this.#cancelFlush?.();
    this.#options.connection.removeEventListener('negotiationneeded', this.#onNegotiationNeeded);
    this.#options.connection.removeEventListener('icecandidate', this.#onCandidate);
  }

  #enqueue(task: () => Promise<void>): void {
    this.#tail = this.#tail.then(async () => {
      if (this.#closed) return;
      try {
        await task();
      } catch {
        // The browser refused the description, or `close` ended the operation. Repairs continue until they are used up.
        this.#watch();
      }
    });
  }

  async #offer(): Promise<void> {
    const { connection } = this.#options;
    // In any other state the browser fires the event again once it is stable.
    if (connection.signalingState !== 'stable') return;
    await connection.setLocalDescription();
    if (this.#closed) return;
    this.#round += 1;
    this.#repairs = 0;
    this.#describe('offer', this.#round, connection.localDescription);
  }

  async #takeOffer(signal: DescriptionSignal): Promise<void> {
    const { connection, polite } = this.#options;
    if (signal.round === this.#answeredRound) {
      this.#describe('answer', signal.round, connection.currentLocalDescription);
      return;
    }
    if (signal.round < this.#answeredRound) return;
    // Until its first offer is answered the polite side insists too: the other side has answered, and repeats that answer.
    const yields = polite && this.settled;
    if (connection.signalingState === 'have-local-offer' && !yields) return;
    await connection.setRemoteDescription({ type: 'offer', sdp: signal.sdp });
    await this.#remoteIsSet(signal);
    await connection.setLocalDescription();
    if (this.#closed) return;
    this.#answeredRound = signal.round;
    this.#repairs = 0;
    this.#describe('answer', signal.round, connection.currentLocalDescription);
    this.#options.onStable();
  }

  async #takeAnswer(signal: DescriptionSignal): Promise<void> {
    const { connection } = this.#options;
    if (connection.signalingState !== 'have-local-offer' || signal.round !== this.#round) return;
    await connection.setRemoteDescription({ type: 'answer', sdp: signal.sdp });
    this.#repairs = 0;
    await this.#remoteIsSet(signal);
    this.#options.onStable();
  }

  async #remoteIsSet(signal: DescriptionSignal): Promise<void> {
    if (this.#closed) return;
    this.#remoteFragments = fragmentsOf(signal.sdp);
    this.#options.onRemote(signal.roles);
    const early = this.#early;
    this.#early = [];
    await this.#addCandidates(early);
  }

  async #addCandidates(candidates: readonly Candidate[]): Promise<void> {
    const { connection } = this.#options;
    for (const candidate of candidates) {
      const fragment = candidate.usernameFragment;
      const described =
        fragment === null ? this.#remoteFragments.size > 0 : this.#remoteFragments.has(fragment);
      // Candidates of a future description, or of an offer that lost a collision: newer ones replace them.
      if (!described) this.#early = [...this.#early, candidate].slice(-MAX_CANDIDATES);
      // A candidate that this browser cannot use (address family, unresolvable name) does not fail the connection.
      else await connection.addIceCandidate(candidate).catch(() => undefined);
    }
  }

  #collect(candidate: RTCIceCandidate | null): void {
    if (this.#closed || candidate === null || candidate.candidate === '') return;
    const { candidate: line, sdpMid, sdpMLineIndex, usernameFragment } = candidate;
    const own: Candidate = { candidate: line, sdpMid, sdpMLineIndex, usernameFragment };
    this.#gathered = [...this.#gathered, own].slice(-MAX_CANDIDATES);
    this.#unsent.push(own);
    this.#cancelFlush ??= this.#options.clock.after(BATCH_MS, () => {
      this.#cancelFlush = null;
      this.#sendCandidates(this.#unsent.splice(0, MAX_CANDIDATES));
    });
  }

  #sendCandidates(candidates: Candidate[]): void {
    if (candidates.length === 0) return;
    this.#options.send({ type: 'candidates', session: this.#options.session, candidates });
    this.#watch();
  }

  #describe(kind: 'offer' | 'answer', round: number, description: RTCSessionDescription | null): void {
    if (description?.type !== kind) return;
    const { session } = this.#options;
    const roles = this.#options.roles();
    this.#options.send({ type: 'description', session, round, kind, sdp: description.sdp, roles });
    this.#watch();
  }

  #watch(): void {
    if (this.#closed) return;
    this.#cancelRepair?.();
    this.#cancelRepair = this.#options.clock.after(REPAIR_MS, () => {
      this.#cancelRepair = null;
      this.#enqueue(async () => this.#repair());
    });
  }

  async #repair(): Promise<void> {
    const { connection } = this.#options;
    const waiting = connection.signalingState === 'have-local-offer';
    if (!waiting && (connection.connectionState === 'connected' || connection.localDescription === null)) {
      return;
    }
    this.#repairs += 1;
    if (this.#repairs > REPAIRS) {
      this.#options.onStuck();
      return;
    }
    if (waiting) {
      this.#describe('offer', this.#round, connection.localDescription);
      return;
    }
    const current = fragmentsOf(connection.localDescription?.sdp ?? '');
    this.#gathered = this.#gathered.filter(
      ({ usernameFragment }) => usernameFragment === null || current.has(usernameFragment),
    );
    this.#sendCandidates([...this.#gathered]);
    this.#watch();
  }
}

/** The ICE user name fragments of a description (RFC 8839 §5.4), which identify the description of a candidate. */
function fragmentsOf(sdp: string): ReadonlySet<string> {
  return new Set([...sdp.matchAll(/^a=ice-ufrag:(\S+)/gm)].map(([, fragment]) => fragment ?? ''));
}
