/** Pages over NATS core: one subscription for each page with visitors here, two for this pod, and one for all pods' beats. SPEC rules PAGE-10 to PAGE-12. */
import { decodePageBusMessage } from '@parley/protocol/decode';
import { readTransfer, writeTransfer } from '@parley/protocol/directed';
import type { PodId } from '@parley/protocol/ids';
import type { PageBusMessage } from '@parley/protocol/pages-bus';
import type { PageAddress } from '@parley/protocol/pages';
import { pageSubject, pagesSubject, podPagesSubject, podVisitorsSubject } from '@parley/protocol/subjects';
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import type { PageBus, PageListener } from '../core/ports.ts';
import type { OnBad } from './nats-bus.ts';
import { followLink } from './nats-connection.ts';

/** While NATS is away nothing is heard and nothing is said. It ends with the connection, which others use too. */
export function natsPages(
  connection: NatsConnection,
  pod: PodId,
  listener: PageListener,
  onBad: OnBad,
): PageBus {
  const pages = new Map<PageAddress, Subscription>();
  const { takes } = followLink(connection, () => listener.onBack());

  const hear = (error: Error | null, message: Msg): void => {
    if (error !== null) return;
    const decoded = decodePageBusMessage(message.string());
    if (!decoded.ok) onBad(message.subject, decoded.why);
    else listener.onMessage(decoded.message);
  };
  const publish = (subject: string, data: string | Uint8Array): void => {
    // What would wait for the link's return is old by then, and is said again.
    if (!takes()) return;
    try {
      connection.publish(subject, data);
    } catch (error) {
      onBad(subject, `not sent: ${String(error)}`);
    }
  };
  const say = (subject: string, message: PageBusMessage): void => publish(subject, JSON.stringify(message));

  connection.subscribe(pagesSubject, { callback: hear });
  connection.subscribe(podPagesSubject(pod), { callback: hear });
  connection.subscribe(podVisitorsSubject(pod), {
    callback(error, message) {
      if (error !== null) return;
      const transfer = readTransfer(message.data);
      if (transfer === undefined) onBad(message.subject, 'bad transfer');
      else listener.onTransfer(transfer);
    },
  });

  return {
    listen(page) {
      pages.get(page)?.unsubscribe();
      pages.set(page, connection.subscribe(pageSubject(page), { callback: hear }));
    },
    stopListening(page) {
      pages.get(page)?.unsubscribe();
      pages.delete(page);
    },
    tellPage: (page, message) => say(pageSubject(page), message),
    tellPod: (to, message) => say(podPagesSubject(to), message),
    beat: (message) => say(pagesSubject, message),
    transfer: (to, transfer) => publish(podVisitorsSubject(to), writeTransfer(transfer)),
  };
}
