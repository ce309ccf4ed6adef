import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  MAX_DIRECTED_ID_BYTES,
  directedBinary,
  directedPrefix,
  directedText,
  isDirected,
  readDirected,
  readTransfers,
  receivedBinary,
  receivedText,
  writeTransfer,
} from '../src/directed.ts';
import { adHocRoomId, participantId } from '../src/ids.ts';
import { allFixtures, fixtures, namesInText, wireBytes } from './fixture.ts';
import { Random } from './random.ts';

const ROUNDS = 2000;
const PRINTABLE = Array.from({ length: 0x7e - 0x20 }, (_, at) => String.fromCharCode(0x21 + at)).join('');
const PAYLOAD_TEXT = 'ab>< \n\r\0"\\{}é\u2028👋';
const utf8 = new TextEncoder();

describe('fixtures of directed messages', () => {
  for (const fixture of fixtures('directed', 'valid')) {
    const { direction, text, to, id, from, payload, payloadBase64 } = fixture.content;
    const frame = wireBytes(fixture);
    const wanted =
      typeof payload === 'string'
        ? utf8.encode(payload)
        : Uint8Array.from(Buffer.from(String(payloadBase64), 'base64'));

    it(`${fixture.name} is read`, () => {
      if (direction === 'to-pod') {
        const head = readDirected(frame);
        assert.ok(isDirected(frame) && head !== undefined, 'it was refused');
        assert.deepEqual({ to: head.to, id: head.id }, { to, id });
        assert.deepEqual(frame.subarray(head.payloadAt), wanted);
      } else {
        assert.deepEqual(receivedBinary(frame), { from, payload: wanted });
        if (typeof text === 'string') assert.deepEqual(receivedText(text), { from, payload });
      }
    });
  }

  for (const fixture of fixtures('directed', 'invalid')) {
    const { direction, text } = fixture.content;
    it(`${fixture.name} is refused`, () => {
      const frame = wireBytes(fixture);
      if (direction === 'to-pod') {
        assert.equal(readDirected(frame), undefined);
      } else {
        assert.equal(receivedBinary(frame), undefined);
        if (typeof text === 'string') assert.equal(receivedText(text), undefined);
      }
    });
  }

  it('no two fixtures have the same name', () => {
    assert.equal(namesInText('directed'), allFixtures('directed').length);
  });

  it('both directions have valid and invalid fixtures, text and binary', () => {
    for (const validity of ['valid', 'invalid'] as const) {
      for (const direction of ['to-pod', 'to-client']) {
        for (const kind of ['text', 'base64']) {
          const found = fixtures('directed', validity).some(
            (fixture) => fixture.content.direction === direction && kind in fixture.content,
          );
          assert.ok(found, `there is no ${validity} ${kind} fixture ${direction}`);
        }
      }
    }
  });
});

describe('directed messages', () => {
  it('[DIR-1] a pod reads the recipient, the id and the bytes of the payload that a client wrote', () => {
    const random = new Random(1);
    for (let round = 0; round < ROUNDS; round += 1) {
      const to = participantId(random.bytes(16));
      const id = random.text(PRINTABLE, MAX_DIRECTED_ID_BYTES);
      const text = random.text(PAYLOAD_TEXT, 80);
      const bytes = random.bytes(random.below(80));
      for (const [frame, payload] of [
        [utf8.encode(directedText(to, id, text)), utf8.encode(text)],
        [directedBinary(to, id, bytes), bytes],
      ] as const) {
        const head = readDirected(frame);
        assert.ok(head, `refused: ${JSON.stringify({ to, id, round })}`);
        assert.deepEqual([head.to, head.id], [to, id]);
        assert.deepEqual(frame.subarray(head.payloadAt), payload);
      }
    }
  });

  it('[DIR-2] a client reads the sender and the payload that a pod wrote, as text and as bytes', () => {
    const random = new Random(2);
    for (let round = 0; round < ROUNDS; round += 1) {
      const from = participantId(random.bytes(16));
      const text = random.text(PAYLOAD_TEXT, 80);
      const bytes = random.bytes(random.below(80));
      assert.deepEqual(receivedText(directedPrefix(from) + text), { from, payload: text });
      const frame = Uint8Array.from([...utf8.encode(directedPrefix(from)), ...bytes]);
      assert.deepEqual(receivedBinary(frame), { from, payload: bytes });
    }
  });

  it('[DIR-3] an id is 1 to 24 printable ASCII characters without space', () => {
    const to = participantId(new Random(5).bytes(16));
    const isRead = (id: string): boolean => readDirected(utf8.encode(`>${to} ${id}\nx`))?.id === id;
    for (const id of ['!', '~', 'x'.repeat(24), PRINTABLE.slice(0, 24)]) assert.ok(isRead(id), id);
    for (const id of ['', ' ', 'a b', 'x'.repeat(25), 'tab\t', 'bell\u0007', 'delete\u007f', 'é'])
      assert.ok(!isRead(id), JSON.stringify(id));
  });

  it('[DIR-4] a pod reads the transfer that another pod wrote', () => {
    const random = new Random(3);
    for (let round = 0; round < ROUNDS; round += 1) {
      const transfer = {
        room: random.below(2) === 0 ? adHocRoomId(random.bytes(16)) : `${'r'.repeat(48)}@${'e'.repeat(16)}`,
        from: participantId(random.bytes(16)),
        to: participantId(random.bytes(16)),
        ref: random.one([0, 1, random.below(2 ** 31), Number.MAX_SAFE_INTEGER]),
        pod: random.text('abcXYZ019_-', 62).replace(/^[_-]/, 'p'),
        binary: random.below(2) === 0,
        payload: random.bytes(random.below(80)),
      };
      assert.deepEqual(readTransfers(writeTransfer(transfer)), [transfer]);
    }
  });

  it('[BUS-16] a message holds several transfers; one that is cut anywhere between two of them is refused whole', () => {
    const sent = ['', 'one', 'two\nlines', ''].map((text, ref) => ({
      room: '7k2m-q9xd-4wtv-0hze',
      from: 'p0123456789abcdef',
      to: 'pzyxwvtsrqpnmkjhg',
      ref,
      pod: 'pod-1',
      binary: ref % 2 === 0,
      payload: utf8.encode(text),
    }));
    const parts = sent.map(writeTransfer);
    const message = Buffer.concat(parts);
    assert.deepEqual(
      readTransfers(message)?.map((one) => ({ ...one, payload: Uint8Array.from(one.payload) })),
      sent,
    );
    const ends = parts.map((_, nth) => Buffer.concat(parts.slice(0, nth + 1)).length);
    for (let length = 0; length < message.length; length += 1)
      assert.equal(
        readTransfers(message.subarray(0, length))?.length,
        ends.includes(length) ? ends.indexOf(length) + 1 : undefined,
        `cut to ${length} bytes`,
      );
  });

  it('[DIR-6] a frame that is cut anywhere in its envelope is refused', () => {
    const frame = utf8.encode(directedText('p0123456789abcdef', 'offer-1', ''));
    for (let length = 0; length < frame.length; length += 1) {
      assert.equal(readDirected(frame.subarray(0, length)), undefined, `cut to ${length} bytes`);
    }
    const transfer = writeTransfer({
      room: '7k2m-q9xd-4wtv-0hze',
      from: 'p0123456789abcdef',
      to: 'pzyxwvtsrqpnmkjhg',
      ref: 12,
      pod: 'pod-1',
      binary: false,
      payload: utf8.encode('payload'),
    });
    for (let length = 0; length < transfer.length; length += 1) {
      assert.equal(readTransfers(transfer.subarray(0, length)), undefined, `cut to ${length} bytes`);
    }
  });

  it('a JSON message is not a directed message', () => {
    assert.equal(isDirected(utf8.encode('{"type":"leave"}')), false);
    assert.equal(isDirected(new Uint8Array()), false);
  });

  it('a payload is a view of the frame and not a copy', () => {
    const frame = utf8.encode(`<p0123456789abcdef\npayload`);
    assert.equal(receivedBinary(frame)?.payload.buffer, frame.buffer);
  });
});
