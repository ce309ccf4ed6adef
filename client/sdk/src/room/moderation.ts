/** The actions of an owner of a named room, over `/v1`. SPEC rules MOD-1 to MOD-5, MOD-13, MOD-14, MOD-16, HAND-4. */
import type { Code } from '@parley/protocol/codes';
import { Ban, BanList, RoomView, type ChangeRoomRequest } from '@parley/protocol/http';
import type { ParticipantId } from '@parley/protocol/ids';
import type { Ports } from '../ports.ts';
import { request, type Answer, type Request } from '../net/request.ts';

/** Answers are values: the result, or the code of the refusal (`unreachable`: no answer). Nothing here throws. */
export interface Moderation {
  /** Removes a participant, who may join again. */
  kick(participant: ParticipantId): Promise<Answer<null>>;
  /** `network`: bans the network address too, not only the device. */
  ban(participant: ParticipantId, options: { readonly network: boolean }): Promise<Answer<Ban>>;
  /** The participant decides: the service does not mute. */
  requestMute(participant: ParticipantId): Promise<Answer<null>>;
  /** The participant may raise it again. */
  lowerHand(participant: ParticipantId): Promise<Answer<null>>;
  /**
   * Mutes a participant until it is unmuted: the SDK of other participants plays no sound of it, whatever it sends. `changeRoom({ muted: true })`
   * mutes everyone but owners.
   */
  mute(participant: ParticipantId): Promise<Answer<null>>;
  /** Lets the participant speak, also as an exception where everyone is muted. Its microphone stays off until it switches it on. */
  unmute(participant: ParticipantId): Promise<Answer<null>>;
  /** With the owner key: makes a participant an owner for as long as it is in the call, who may do all that is here but this and its reverse. */
  makeCoOwner(participant: ParticipantId): Promise<Answer<null>>;
  /** With the owner key: takes that back. */
  removeCoOwner(participant: ParticipantId): Promise<Answer<null>>;
  /** Ends the call for all participants, this one included, and for all in the lobby, with `CALL_ENDED`. The room remains. */
  endCall(): Promise<Answer<null>>;
  /** Admits a newcomer from the lobby. */
  admit(participant: ParticipantId): Promise<Answer<null>>;
  /** Refuses a newcomer in the lobby, whose call ends with `LOBBY_DENIED`. */
  deny(participant: ParticipantId): Promise<Answer<null>>;
  /** Fields that are absent stay unchanged. */
  changeRoom(change: ChangeRoomRequest): Promise<Answer<RoomView>>;
  /** All bans of the room. */
  bans(): Promise<Answer<readonly Ban[]>>;
  /** `ban`: the `id` of a ban. */
  unban(ban: string): Promise<Answer<null>>;
}

export interface ModerationOptions {
  /** Origin of the API of any region. */
  readonly api: () => string;
  readonly room: string;
  /** The owner key, or the resume token of a co-owner. */
  readonly credential: () => string | undefined;
}

/** How long a user waits for a button; a longer wait is reported with its time. */
const PATIENCE_MS = 8000;

/** `onView` receives the room after a change, before the room broadcasts it. */
export function moderation(
  { api, room, credential }: ModerationOptions,
  ports: Ports,
  onView: (view: RoomView) => void,
): Moderation {
  const base = `/rooms/${encodeURIComponent(room)}`;
  const of = (participant: ParticipantId, command: string): string =>
    `${base}/participants/${encodeURIComponent(participant)}/${command}`;
  const to = (path: string) => ({ url: `${api()}/v1${path}`, ownerKey: credential() });

  const remove = (method: Request<null>['method'], path: string, gone: Code): Promise<Answer<null>> =>
    removed({ ...to(path), method, answer: null, patienceMs: PATIENCE_MS }, ports, gone);
  const dismiss = (participant: ParticipantId, command: string): Promise<Answer<null>> =>
    remove('POST', of(participant, command), 'PARTICIPANT_NOT_FOUND');
  const post = (path: string, patienceMs: number): Promise<Answer<null>> =>
    request({ ...to(path), method: 'POST', answer: null, patienceMs }, ports);

  return {
    kick: (participant) => dismiss(participant, 'kick'),
    admit: (participant) => dismiss(participant, 'admit'),
    deny: (participant) => dismiss(participant, 'deny'),
    // Not repeated: the participant may have raised it again.
    lowerHand: (participant) => post(of(participant, 'lower-hand'), 0),
    mute: (participant) => post(of(participant, 'mute'), PATIENCE_MS),
    unmute: (participant) => post(of(participant, 'unmute'), PATIENCE_MS),
    makeCoOwner: (participant) => post(of(participant, 'make-co-owner'), PATIENCE_MS),
    removeCoOwner: (participant) => post(of(participant, 'remove-co-owner'), PATIENCE_MS),
    // Not repeated: a second request might end the next call.
    endCall: () => post(`${base}/end`, 0),
    // Not repeated: a second request would disturb the participant again.
    requestMute: (participant) => post(of(participant, 'request-mute'), 0),
    // Not repeated: a second request would ban again, or find no participant.
    ban: (participant, { network }) =>
      request(
        { ...to(of(participant, 'ban')), method: 'POST', body: { network }, answer: Ban, patienceMs: 0 },
        ports,
      ),
    async changeRoom(change) {
      const answer = await request(
        { ...to(base), method: 'PATCH', body: change, answer: RoomView, patienceMs: PATIENCE_MS },
        ports,
      );
      if (answer.ok) onView(answer.value);
      return answer;
    },
    async bans() {
      const answer = await request(
        { ...to(`${base}/bans`), method: 'GET', answer: BanList, patienceMs: PATIENCE_MS },
        ports,
      );
      return answer.ok ? { ok: true, value: answer.value.bans } : answer;
    },
    unban: (ban) => remove('DELETE', `${base}/bans/${encodeURIComponent(ban)}`, 'BAN_NOT_FOUND'),
  };
}

/** DELETE is idempotent, so it is repeated; if the first answer was lost, the code `gone` means success. */
async function removed(asked: Request<null>, ports: Ports, gone: Code): Promise<Answer<null>> {
  let repeated = false;
  const answer = await request(asked, ports, () => {
    repeated = true;
  });
  return repeated && !answer.ok && answer.reason === gone ? { ok: true, value: null } : answer;
}
