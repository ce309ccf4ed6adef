/** The words of `references/naive-ws.ts`: nobody is asked before, everything is JSON. */
import { randomBytes } from 'node:crypto';
import { adHocRoomId, participantId } from '@parley/protocol/ids';
import type { Dialect, Heard } from './dialect.ts';

const SIGNAL = Buffer.from('{"type":"signal","from":"');
const DATA = '","data":'.length;
const QUOTE = 0x22;
const NEWS: Heard = { heard: 'news' };

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
      return { heard: 'signal', from: bytes.toString('latin1', from, quote), at: quote + DATA };
    }
    const text = bytes.toString('utf8', start, end);
    if (!text.startsWith('{"type":"joined"')) return NEWS;
    const { peers } = JSON.parse(text) as { peers: string[] };
    return { heard: 'welcome', others: peers };
  },
  leave: null,
  newRoom: () => adHocRoomId(randomBytes(16)),
};
