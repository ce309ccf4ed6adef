/** What the service says of the room: whether it is locked, who its owners are, who waits in its lobby and whom owners muted. SPEC rules MOD-3 to MOD-5, MOD-14, MOD-16. */
import type { RoomView } from '@parley/protocol/http';
import type { ParticipantId } from '@parley/protocol/ids';
import { isMuted, NO_MUTES, type CoOwners, type Member } from '@parley/protocol/people';
import type { ServerMessage, Welcome } from '@parley/protocol/server-messages';
import type { CallSnapshot } from '../call.ts';
import { lobbyAfter, type Lobby } from './lobby.ts';
import { heardMembers, type HeardMember } from './mutes.ts';

type Role = Pick<CallSnapshot['me'], 'owner' | 'coOwner' | 'muted'>;

export class RoomState {
  /** `null` before the welcome. */
  view: RoomView | null = null;
  lobby: Lobby = [];
  muteRequests = 0;
  /** This participant joined with the owner key. */
  #hasKey = false;
  #coOwners: CoOwners = [];
  #mutes = NO_MUTES;

  get allMuted(): boolean {
    return this.#mutes.all;
  }

  /** The role of this participant; `null` before it is known who it is. */
  role(me: ParticipantId | null): Role {
    const coOwner = me !== null && !this.#hasKey && this.#coOwners.includes(me);
    const owner = this.#hasKey || coOwner;
    return { owner, coOwner, muted: me !== null && isMuted(this.#mutes, { participant: me, owner }) };
  }

  heard(members: ReadonlyMap<ParticipantId, Member>): ReadonlyMap<ParticipantId, HeardMember> {
    return heardMembers(members, this.#mutes, this.#coOwners);
  }

  /** A pod that does not know mutes and co-owners names none: those that are known stay. */
  welcomed(welcome: Welcome, fresh: boolean): void {
    this.view = welcome.room;
    this.#hasKey = welcome.owner ?? false;
    this.#mutes = welcome.mutes ?? (fresh ? NO_MUTES : this.#mutes);
    this.#coOwners = welcome.coOwners ?? (fresh ? [] : this.#coOwners);
    this.lobby = lobbyAfter(this.lobby, welcome);
  }

  /** Returns whether the message changed who is an owner or muted. */
  receive(message: ServerMessage, me: ParticipantId | null): boolean {
    this.lobby = lobbyAfter(this.lobby, message);
    if (message.type === 'room-changed') this.view = message.room;
    else if (message.type === 'mute-requested') this.muteRequests += 1;
    else if (message.type === 'lobby-waiting') {
      this.view = message.room;
      this.lobby = [];
      this.#hasKey = false;
      this.#coOwners = [];
    } else if (message.type === 'mutes') {
      this.#mutes = message.mutes;
      return true;
    } else if (message.type === 'co-owners') {
      this.#coOwners = message.coOwners;
      if (!this.role(me).owner) this.lobby = [];
      return true;
    }
    return false;
  }
}
