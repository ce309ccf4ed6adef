/** What the owner of a named room may do, over `/v1` with the owner key. SPEC rules MOD-1 to MOD-5. */
import type { Code } from '@parley/protocol/codes';
import { Ban, BanList, RoomView, type ChangeRoomRequest } from '@parley/protocol/http';
import type { ParticipantId } from '@parley/protocol/ids';
import type { Ports } from '../ports.ts';
import { request, type Answer, type Request } from '../net/request.ts';

/** Answers are values: what was asked for, or the code that says why not (`unreachable`: no answer at all). Nothing here throws. */
export interface Moderation {
  /** Whoever is kicked may join again. */
  kick(participant: ParticipantId): Promise<Answer<null>>;
  /** `network`: everyone behind the same network address too, not only the device. */
  ban(participant: ParticipantId, options: { readonly network: boolean }): Promise<Answer<Ban>>;
  /** They decide: nobody is muted by force. */
  requestMute(participant: ParticipantId): Promise<Answer<null>>;
  /** Lets somebody in who waits in the lobby. */
  admit(participant: ParticipantId): Promise<Answer<null>>;
  deny(participant: ParticipantId): Promise<Answer<null>>;
  /** What is not named stays as it is. */
  changeRoom(change: ChangeRoomRequest): Promise<Answer<RoomView>>;
  bans(): Promise<Answer<readonly Ban[]>>;
  unban(ban: string): Promise<Answer<null>>;
}

export interface ModerationOptions {
  readonly api: string;
  readonly room: string;
  readonly ownerKey: string;
}

/** As long as somebody looks at a button; a longer wait is told with its time. */
const PATIENCE_MS = 8000;

/** `onView` hears what the room is like after a change, before the room itself says so. */
export function moderation(
  { api, room, ownerKey }: ModerationOptions,
  ports: Ports,
  onView: (view: RoomView) => void,
): Moderation {
  const base = `/rooms/${encodeURIComponent(room)}`;
  const of = (participant: ParticipantId, command: string): string =>
    `${base}/participants/${encodeURIComponent(participant)}/${command}`;
  const to = (path: string) => ({ url: `${api}/v1${path}`, ownerKey });

  /** Done twice it is done once, so it is repeated; where the first answer was lost, `gone` means that it was heard. */
  const remove = async (method: Request<null>['method'], path: string, gone: Code): Promise<Answer<null>> => {
    let repeated = false;
    const answer = await request(
      { ...to(path), method, answer: null, patienceMs: PATIENCE_MS },
      ports,
      () => {
        repeated = true;
      },
    );
    return repeated && !answer.ok && answer.reason === gone ? { ok: true, value: null } : answer;
  };
  const dismiss = (participant: ParticipantId, command: string): Promise<Answer<null>> =>
    remove('POST', of(participant, command), 'PARTICIPANT_NOT_FOUND');

  return {
    kick: (participant) => dismiss(participant, 'kick'),
    admit: (participant) => dismiss(participant, 'admit'),
    deny: (participant) => dismiss(participant, 'deny'),
    // Asked twice they would be disturbed twice.
    requestMute: (participant) =>
      request({ ...to(of(participant, 'request-mute')), method: 'POST', answer: null, patienceMs: 0 }, ports),
    // A second one would ban again, or find nobody.
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
