/** Envelopes of directed messages: all readers split one in the same way, and an envelope that was read is written as the same bytes. */
import assert from 'node:assert/strict';
import { nearly, textOf, utf8, type Target } from '../../../scripts/fuzz/target.ts';
import {
  directedBinary,
  directedPrefix,
  isDirected,
  readDirected,
  readTransfers,
  receivedBinary,
  receivedText,
  writeTransfer,
} from '../src/directed.ts';
import { isParticipantId } from '../src/ids.ts';
import { isVisitorId } from '../src/pages.ts';
import { allFixtures, wireBytes } from '../test/fixture.ts';

const frames = allFixtures('directed').map(wireBytes);
const PARTICIPANTS = ['p0123456789abcdef', 'pzyxwvtsrqpnmkjhg'] as const;
const TOKENS = ['>', '<', ' ', '\n', '\r', '\0', '-', 'é', ...PARTICIPANTS, 'v0123456789abcdef'];

const toPod: Target = {
  name: 'directed-to-pod',
  inputs: nearly(frames, TOKENS),
  check(input) {
    let accepted = false;
    for (const isRecipient of [isParticipantId, isVisitorId]) {
      const head = readDirected(input, isRecipient);
      if (head === undefined) continue;
      assert.ok(isDirected(input) && isRecipient(head.to));
      const payload = input.subarray(head.payloadAt);
      assert.deepEqual(directedBinary(head.to, head.id, payload), input, 'another envelope means the same');
      // The message that a pod delivers.
      const delivered = Uint8Array.from([...utf8(directedPrefix(head.to)), ...payload]);
      assert.deepEqual(receivedBinary(delivered), { from: head.to, payload });
      accepted = true;
    }
    return accepted;
  },
};

const toClient: Target = {
  name: 'directed-to-client',
  inputs: nearly(frames, TOKENS),
  check(input) {
    const binary = receivedBinary(input);
    const text = textOf(input);
    // A text frame that is not UTF-8 ends the socket.
    if (Buffer.compare(utf8(text), input) !== 0) return binary !== undefined;
    const read = receivedText(text);
    assert.equal(read?.from, binary?.from, 'the readers of text and of bytes disagree');
    if (read !== undefined) assert.deepEqual(utf8(read.payload), Uint8Array.from(binary?.payload ?? []));
    return read !== undefined;
  },
};

const transfers = PARTICIPANTS.map((from, at) =>
  writeTransfer({
    room: at === 0 ? '7k2m-q9xd-4wtv-0hze' : 'standup@eu',
    from,
    to: PARTICIPANTS[1 - at] ?? from,
    ref: 12 ** (1 + at),
    pod: 'pod-1',
    binary: at === 0,
    payload: utf8('a payload\nof two lines'),
  }),
);

const betweenPods: Target = {
  name: 'directed-transfer',
  inputs: nearly(
    [...transfers, Uint8Array.from(transfers.flatMap((transfer) => [...transfer]))],
    [...TOKENS, '0x', '1e3', '+1', '-0', '00', '.0', '9007199254740992', ' b\n', ' t\n', 'Infinity'],
  ),
  check(input) {
    const read = readTransfers(input);
    if (read === undefined) return false;
    const written = read.flatMap((transfer) => [...writeTransfer(transfer)]);
    assert.deepEqual(Uint8Array.from(written), Uint8Array.from(input), 'another head means the same');
    return true;
  },
};

export const targets: readonly Target[] = [toPod, toClient, betweenPods];
