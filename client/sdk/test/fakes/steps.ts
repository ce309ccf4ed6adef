/** Steps that tests of joining and resuming have in common. */
import type { Call } from '../../src/call.ts';
import { welcome } from './messages.ts';
import type { FakeService } from './service.ts';

export const status = (call: Call): string => call.snapshot().connection.status;

/** Opens the newest socket and sends a welcome; returns the first message on the socket. */
export const welcomeNext = async (service: FakeService): Promise<Record<string, unknown> | undefined> => {
  service.socket.open();
  service.socket.sendMessage(welcome({ resume: `token-${service.sockets.length}` }));
  await service.settle();
  return service.socket.sent[0];
};
/** The time until the next attempt, in ms; `null` if there was none in time. */
export const nextSocket = async (service: FakeService, ms = 20_000): Promise<number | null> => {
  const before = service.sockets.length;
  const took = await service.ports.clock.until(() => service.sockets.length > before, ms);
  await service.settle();
  return took;
};
