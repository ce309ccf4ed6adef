/** The protocol of `references/naive-ws.ts`: without admission, all JSON. */
import { randomBytes } from 'node:crypto';
import { adHocRoomId, participantId } from '@parley/protocol/ids';
import type { Dialect, Received } from './dialect.ts';

const SIGNAL = Buffer.from('{"type":"signal","from":"');
const DATA = '","data":'.length;
const QUOTE = 0x22;
const ROSTER_CHANGE: Received = { kind: 'roster-change' };

export const minDialect: Dialect = {
  admit: (target, room) => {
    // As long as Parley's ids, so that both relay equally many bytes.
    const me = participantId(randomBytes(16));
    return Promise.resolve({
      target,
      room,
      path: '/',
      me,
      enter: `{"type":"join","room":"${room}","peer":"${me}"}`,
    });
  },
  before: (to) => `{"type":"signal","to":"${to}","data":`,
  after: '}',
  read(bytes, start, end) {
    if (bytes.compare(SIGNAL, 0, SIGNAL.length, start, Math.min(end, start + SIGNAL.length)) === 0) {
      const from = start + SIGNAL.length;
      const quote = bytes.indexOf(QUOTE, from);
      return { kind: 'signal', from: bytes.toString('latin1', from, quote), at: quote + DATA };
    }
    const text = bytes.toString('utf8', start, end);
    if (!text.startsWith('{"type":"joined"')) return ROSTER_CHANGE;
    const { peers } = JSON.parse(text) as { peers: string[] };
    return { kind: 'welcome', others: peers };
  },
  leave: null,
  newRoom: () => adHocRoomId(randomBytes(16)),
};
