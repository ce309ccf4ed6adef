/** The commands of a room's owner: which are pending, and the problem if one fails. */
import type { Ban, ChangeRoomRequest } from '@parley/protocol/http';
import type { ParticipantId } from '@parley/protocol/ids';
import type { Moderation } from '@parley/sdk/room/moderation';
import type { Answer } from '@parley/sdk/net/request';
import { signal, type Signal } from '@preact/signals';
import { moderationProblem } from '../../text/moderation.ts';

export type BanList =
  | { readonly status: 'unread' | 'reading' }
  | { readonly status: 'known'; readonly bans: readonly Ban[] }
  | { readonly status: 'failed'; readonly problem: string };

export class OwnerCommands {
  /** Participants and bans with a pending command, or one whose effect is not visible yet. */
  readonly pending = signal<ReadonlySet<string>>(new Set());
  /** The same for newcomers in the lobby, who keep their ids when they enter. */
  readonly answered = signal<ReadonlySet<ParticipantId>>(new Set());
  /** Participants that this page asked to mute since they last muted. */
  readonly muteRequested = signal<ReadonlySet<ParticipantId>>(new Set());
  /** Changes of the room that are not answered yet. */
  readonly pendingChange = signal<ChangeRoomRequest>({});
  readonly bans = signal<BanList>({ status: 'unread' });
  readonly #moderation: Moderation;
  readonly #report: (problem: string) => void;

  constructor(moderation: Moderation, report: (problem: string) => void) {
    this.#moderation = moderation;
    this.#report = report;
  }

  answerNewcomer(participant: ParticipantId, answer: 'admit' | 'deny'): void {
    const command = () => this.#moderation[answer](participant);
    void this.#remove(this.answered, participant, command, 'PARTICIPANT_NOT_FOUND');
  }

  kick(participant: ParticipantId): void {
    void this.#remove(this.pending, participant, () => this.#moderation.kick(participant));
  }

  async requestMute(participant: ParticipantId): Promise<void> {
    this.muteRequested.value = added(this.muteRequested.peek(), participant);
    const answer = await this.#moderation.requestMute(participant);
    if (answer.ok) return;
    this.clearMuteRequest(participant);
    this.#report(moderationProblem(answer.reason));
  }

  /** The list of hands shows when it is lowered. */
  async lowerHand(participant: ParticipantId): Promise<void> {
    const answer = await this.#moderation.lowerHand(participant);
    if (!answer.ok) this.#report(moderationProblem(answer.reason));
  }

  /** A mute that holds until it is lifted. */
  async setMuted(participant: ParticipantId, muted: boolean): Promise<void> {
    if (this.pending.peek().has(participant)) return;
    this.pending.value = added(this.pending.peek(), participant);
    const answer = await this.#moderation[muted ? 'mute' : 'unmute'](participant);
    this.pending.value = removed(this.pending.peek(), participant);
    if (!answer.ok) this.#report(moderationProblem(answer.reason));
  }

  async setCoOwner(participant: ParticipantId, isCoOwner: boolean): Promise<void> {
    if (this.pending.peek().has(participant)) return;
    this.pending.value = added(this.pending.peek(), participant);
    const answer = await this.#moderation[isCoOwner ? 'makeCoOwner' : 'removeCoOwner'](participant);
    this.pending.value = removed(this.pending.peek(), participant);
    if (!answer.ok) this.#report(moderationProblem(answer.reason));
  }

  /** Ends this call too. `null` on success, otherwise the sentence for the owner. */
  async endCall(): Promise<string | null> {
    const answer = await this.#moderation.endCall();
    return answer.ok ? null : moderationProblem(answer.reason);
  }

  /** The participant muted: the next request is a new one. */
  clearMuteRequest(participant: ParticipantId): void {
    this.muteRequested.value = removed(this.muteRequested.peek(), participant);
  }

  /** `null` on success, otherwise the sentence for the owner. */
  async ban(participant: ParticipantId, network: boolean): Promise<string | null> {
    const answer = await this.#moderation.ban(participant, { network });
    if (!answer.ok) return moderationProblem(answer.reason);
    const list = this.bans.peek();
    if (list.status === 'known') this.bans.value = { ...list, bans: [...list.bans, answer.value] };
    return null;
  }

  async changeRoom(change: ChangeRoomRequest): Promise<void> {
    this.pendingChange.value = { ...this.pendingChange.peek(), ...change };
    const answer = await this.#moderation.changeRoom(change);
    const answered = new Set(Object.keys(change));
    const others = Object.entries(this.pendingChange.peek()).filter(([what]) => !answered.has(what));
    this.pendingChange.value = Object.fromEntries(others);
    if (!answer.ok) this.#report(moderationProblem(answer.reason));
  }

  async readBans(): Promise<void> {
    if (this.bans.peek().status === 'reading') return;
    this.bans.value = { status: 'reading' };
    const answer = await this.#moderation.bans();
    this.bans.value = answer.ok
      ? { status: 'known', bans: answer.value }
      : { status: 'failed', problem: moderationProblem(answer.reason) };
  }

  async unban(ban: string): Promise<void> {
    const done = await this.#remove(this.pending, ban, () => this.#moderation.unban(ban), 'BAN_NOT_FOUND');
    const list = this.bans.peek();
    if (!done || list.status !== 'known') return;
    this.bans.value = { ...list, bans: list.bans.filter(({ id }) => id !== ban) };
  }

  /** The entry stays pending after success, and after the code `gone`, which means that there is nothing left to do: the room reports the change too. */
  async #remove(
    pending: Signal<ReadonlySet<string>>,
    id: string,
    command: () => Promise<Answer<null>>,
    gone?: 'BAN_NOT_FOUND' | 'PARTICIPANT_NOT_FOUND',
  ): Promise<boolean> {
    if (pending.peek().has(id)) return false;
    pending.value = added(pending.peek(), id);
    const answer = await command();
    if (answer.ok) return true;
    this.#report(moderationProblem(answer.reason));
    if (answer.reason === gone) return true;
    pending.value = removed(pending.peek(), id);
    return false;
  }
}

const added = (set: ReadonlySet<string>, id: string): ReadonlySet<string> => new Set([...set, id]);
const removed = (set: ReadonlySet<string>, id: string): ReadonlySet<string> =>
  new Set([...set].filter((one) => one !== id));
