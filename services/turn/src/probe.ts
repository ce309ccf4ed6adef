import { createSocket } from 'node:dgram';
import { attribute, decodeResponse, encodeRequest, method, newTransaction } from './stun.ts';

// STUN's own first retransmission is at 500 ms; a probe on one machine or one rack need not wait for it.
const resendEveryMs = 200;

/**
 * Asks a STUN or TURN server over UDP for this socket's address, as a health check. Resolves with the round trip in ms;
 * rejects after `deadlineMs`.
 */
export function probeStun(host: string, port: number, deadlineMs: number): Promise<number> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  const transaction = newTransaction();
  const packet = encodeRequest(method.binding, transaction, []);
  const started = performance.now();

  return new Promise<number>((resolve, reject) => {
    const send = () => socket.send(packet, port, host);
    const resend = setInterval(send, resendEveryMs);
    const deadline = setTimeout(() => end(new Error(`no STUN answer from ${host}:${port}`)), deadlineMs);
    const end = (error?: Error) => {
      clearInterval(resend);
      clearTimeout(deadline);
      socket.close();
      if (error) reject(error);
      else resolve(performance.now() - started);
    };
    // A refused port is reported here before the server has bound it: keep asking until the deadline.
    socket.on('error', () => undefined);
    socket.on('message', (message) => {
      const response = decodeResponse(message);
      if (response?.transaction !== transaction.toString('hex')) return;
      if (response.attributes.has(attribute.xorMappedAddress)) end();
    });
    send();
  });
}
