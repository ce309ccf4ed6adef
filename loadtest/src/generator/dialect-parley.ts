/** Parley's protocol (services/protocol/SPEC.md): a ticket over HTTP, then the socket, enter and welcome. */
import { randomBytes } from 'node:crypto';
import type { JoinAnswer } from '@parley/protocol/http';
import { socketPath } from '@parley/protocol/http';
import { adHocRoomId } from '@parley/protocol/ids';
import type { Welcome } from '@parley/protocol/server-messages';
import type { Admission, Dialect, Received, Target } from './dialect.ts';
import { HttpPool } from './http.ts';

const LESS_THAN = 0x3c;
/** `<p0123456789abcdef\n` */
const FROM_END = 18;
const ROSTER_CHANGE: Received = { kind: 'roster-change' };
const MEDIA = { audio: true, video: true, screen: false };

async function askForTicket(pool: HttpPool, target: Target, room: string): Promise<Admission> {
  const { status, body } = await pool.post(target, `/v1/rooms/${room}/join`, '{"name":"Ada Lovelace"}');
  if (status !== 200) throw new Error(`join answered ${status} ${body}`);
  const { participant, ticket } = JSON.parse(body) as JoinAnswer;
  const enter = { type: 'enter', ticket, generation: 1, name: 'Ada Lovelace', media: MEDIA };
  return { target, room, path: socketPath(room), me: participant, enter: JSON.stringify(enter) };
}

export function parleyDialect(): Dialect & { close(): void } {
  const pool = new HttpPool();
  return {
    admit: (target, room) => askForTicket(pool, target, room),
    before: (to, count) => `>${to} m${count}\n`,
    after: '',
    read(bytes, start, end) {
      if (bytes[start] === LESS_THAN) {
        const at = start + FROM_END;
        return { kind: 'signal', from: bytes.toString('latin1', start + 1, at), at: at + 1 };
      }
      const type = /^\{"type":"([a-z-]+)"/.exec(
        bytes.toString('latin1', start, Math.min(end, start + 32)),
      )?.[1];
      switch (type) {
        case 'welcome': {
          const { roster, participant } = JSON.parse(bytes.toString('utf8', start, end)) as Welcome;
          const others = roster.map((member) => member.participant).filter((id) => id !== participant);
          return { kind: 'welcome', others };
        }
        case 'joined':
        case 'left':
        case 'away':
        case 'back':
          return ROSTER_CHANGE;
        case 'undelivered':
          return { kind: 'undelivered', why: bytes.toString('utf8', start, end) };
        default:
          // An error, or something the bench does not expect.
          return { kind: 'refused', why: bytes.toString('utf8', start, end) };
      }
    },
    leave: '{"type":"leave"}',
    newRoom: () => adHocRoomId(randomBytes(16)),
    close: () => pool.close(),
  };
}
