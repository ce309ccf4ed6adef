/** A scripted call: it records the requested operations and shows the given snapshot. */
import type { ChangeRoomRequest } from '@parley/protocol/http';
import type { Code } from '@parley/protocol/codes';
import type { Call, CallFigures, CallSnapshot, Person, SecurityCode } from '@parley/sdk/call';
import type { Moderation } from '@parley/sdk/room/moderation';
import { BANS, figures, NAMED_VIEW, people } from './people.ts';

export class FakeCall implements Call {
  readonly asked: string[] = [];
  readonly moderation: Moderation | null = null;
  readonly #listeners = new Set<() => void>();
  #snapshot: CallSnapshot;

  /** With `owner` it accepts the commands of an owner, or refuses all with a code. */
  constructor(snapshot: CallSnapshot, { owner }: { readonly owner?: 'obeyed' | Code } = {}) {
    this.#snapshot = snapshot;
    if (owner !== undefined) this.moderation = this.#moderate(owner === 'obeyed' ? undefined : owner);
  }

  snapshot(): CallSnapshot {
    return this.#snapshot;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  show(changes: Partial<CallSnapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...changes };
    for (const listener of this.#listeners) listener();
  }

  setMicrophone(track: MediaStreamTrack | null): void {
    this.#media('audio', track !== null);
  }

  setCamera(track: MediaStreamTrack | null): void {
    this.#media('video', track !== null);
  }

  setScreen(stream: MediaStream | null): void {
    this.#media('screen', stream !== null);
  }

  setMediaKey(key: string): void {
    this.asked.push(`key ${key}`);
  }

  securityCode(): Promise<SecurityCode | null> {
    const { path, people: others } = this.#snapshot;
    if (path.kind === 'sfu' && !path.encrypted) return Promise.resolve(null);
    const participants = others.slice(1).map(({ participant }) => participant);
    return Promise.resolve({ code: '40281 77354 06192 88417', participants });
  }

  showCamera(): void {}

  setVolume(): void {}

  measure(): Promise<CallFigures> {
    return Promise.resolve(figures(this.#snapshot));
  }

  rename(name: string): void {
    this.asked.push(`rename ${name}`);
    this.show({ me: { ...this.#snapshot.me, name } });
  }

  send(): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  onData(): () => void {
    return () => undefined;
  }

  sendChat(text: string): boolean {
    this.asked.push(`chat ${text}`);
    const { me, chat } = this.#snapshot;
    const id = `mine-${chat.length}`.padEnd(8, '0');
    const from = me.participant ?? '';
    const line = {
      id,
      from,
      name: me.name,
      text,
      at: Date.now(),
      mine: true,
      status: 'acknowledged',
    } as const;
    this.show({ chat: [...chat, line] });
    return true;
  }

  setHand(raised: boolean): void {
    this.asked.push(`hand ${raised ? 'up' : 'down'}`);
    const { me, hands } = this.#snapshot;
    const others = hands.filter((one) => one !== me.participant);
    this.show({ hands: raised && me.participant !== null ? [...others, me.participant] : others });
  }

  react(emoji: string): boolean {
    this.asked.push(`react ${emoji}`);
    const { me, reactions } = this.#snapshot;
    const id = 1 + (reactions.at(-1)?.id ?? 0);
    this.show({ reactions: [...reactions, { id, from: me.participant ?? '', emoji }] });
    return true;
  }

  leave(): void {
    this.asked.push('leave');
    this.show({ connection: { status: 'ended', reason: 'left', retry: true, retryAfterMs: null } });
  }

  #moderate(refusal: Code | undefined): Moderation {
    const answer = async <Value>(what: string, act: () => Value) => {
      this.asked.push(what);
      if (refusal !== undefined)
        return { ok: false, reason: refusal, retry: false, retryAfterMs: null } as const;
      return { ok: true, value: act() } as const;
    };
    const gone = (participant: string) => {
      const { people: here, lobby } = this.#snapshot;
      this.show({
        people: here.filter((person) => person.participant !== participant),
        lobby: lobby.filter((waiting) => waiting.participant !== participant),
      });
      return null;
    };
    const promoted = (who: string, on: boolean) => {
      const { people: shown } = this.#snapshot;
      this.show({
        people: shown.map((one) => (one.participant === who ? { ...one, owner: on, coOwner: on } : one)),
      });
      return null;
    };
    const muted = (who: string | null, on: boolean) => {
      const mute = (person: Person): Person =>
        person.owner || (who !== null && who !== person.participant)
          ? person
          : { ...person, muted: on, media: { ...person.media, audio: person.media.audio && !on } };
      this.show({ people: this.#snapshot.people.map(mute) });
      return null;
    };
    return {
      kick: (participant) => answer(`kick ${participant}`, () => gone(participant)),
      ban: (participant, { network }) =>
        answer(`ban ${participant} ${network ? 'network' : 'device'}`, () => {
          const name = this.#snapshot.people.find((person) => person.participant === participant)?.name;
          gone(participant);
          return { id: `ban-${participant}`, name: name ?? '', network, at: BANS[0]?.at ?? 0 };
        }),
      requestMute: (participant) => answer(`ask ${participant} to mute`, () => null),
      lowerHand: (participant) =>
        answer(`lower the hand of ${participant}`, () => {
          this.show({ hands: this.#snapshot.hands.filter((one) => one !== participant) });
          return null;
        }),
      makeCoOwner: (participant) =>
        answer(`make ${participant} a co-owner`, () => promoted(participant, true)),
      removeCoOwner: (participant) =>
        answer(`remove ${participant} as co-owner`, () => promoted(participant, false)),
      mute: (participant) => answer(`mute ${participant}`, () => muted(participant, true)),
      unmute: (participant) => answer(`unmute ${participant}`, () => muted(participant, false)),
      endCall: () =>
        answer('end the call', () => {
          this.show({
            connection: { status: 'ended', reason: 'CALL_ENDED', retry: true, retryAfterMs: null },
          });
          return null;
        }),
      admit: (participant) =>
        answer(`admit ${participant}`, () => {
          const [someone] = people(1);
          const waiting = this.#snapshot.lobby.find((one) => one.participant === participant);
          gone(participant);
          if (someone && waiting)
            this.show({ people: [...this.#snapshot.people, { ...someone, ...waiting }] });
          return null;
        }),
      deny: (participant) => answer(`deny ${participant}`, () => gone(participant)),
      changeRoom: (change: ChangeRoomRequest) =>
        answer(`change ${JSON.stringify(change)}`, () => {
          const { muted: allMuted = this.#snapshot.allMuted, ...settings } = change;
          const view = { ...NAMED_VIEW, ...this.#snapshot.view, ...settings };
          this.show({ view, allMuted });
          if (change.muted !== undefined) muted(null, allMuted);
          return view;
        }),
      bans: () => answer('bans', () => BANS),
      unban: (ban) => answer(`unban ${ban}`, () => null),
    };
  }

  #media(kind: 'audio' | 'video' | 'screen', on: boolean): void {
    this.asked.push(`${kind} ${on ? 'on' : 'off'}`);
    const { me } = this.#snapshot;
    if (me.media[kind] !== on) this.show({ me: { ...me, media: { ...me.media, [kind]: on } } });
  }
}
