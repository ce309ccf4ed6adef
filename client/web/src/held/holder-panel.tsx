/** The panel with holders, readers and transfers of a page. */
import type { PagePeer, PageView } from '@parley/sdk/pages/api';
import { Icon } from '../design/icon.tsx';
import { grouped } from '../streams/amounts.ts';
import { Facts, FiguresAside, type Fact } from '../streams/figures.tsx';
import { HolderLine } from './holder-line.tsx';
import { amount, historyWords, sources, WAY } from './words.ts';

export interface HolderPanelProps {
  readonly view: PageView;
  readonly visitors: number | null;
  readonly onClose: () => void;
}

export function HolderPanel({ view, visitors, onClose }: HolderPanelProps) {
  return (
    <FiguresAside>
      <div class="figures-rate">
        <p class="soft small">Have the page</p>
        <p class="figures-big" data-figure="holders" data-value={view.holders ?? ''}>
          {view.holders === null ? '…' : grouped(view.holders)}
        </p>
        <HolderLine history={view.history} />
        <p class="soft small">{historyWords(view.history, Date.now())}</p>
      </div>
      <Facts facts={factsOf(view, visitors)} />
      <Peers view={view} />
      <div class="held-close">
        <p class="soft small">
          The page is not stored. After a reload this tab fetches it again from others, if any have it.
        </p>
        <button type="button" class="button" data-testid="drop" onClick={onClose}>
          <Icon name="close" />
          Close the page here
        </button>
      </div>
    </FiguresAside>
  );
}

function factsOf(view: PageView, visitors: number | null): readonly Fact[] {
  const facts: Fact[] = [];
  const add = (id: string, name: string, value: number | string | null, text = String(value)): void => {
    if (value !== null) facts.push({ id, name, text, value });
  };
  add('readers', 'Fetching it', view.readers, grouped(view.readers ?? 0));
  add('visitors', 'Visitors here', visitors, grouped(visitors ?? 0));
  add('bytes', 'Size', view.head?.bytes ?? null, amount(view.head?.bytes ?? 0));
  if (view.path !== 'connecting') add('way', 'Path', view.path, WAY[view.path]);
  add('received', 'Received', view.received, amount(view.received));
  add('sent', 'Sent to others', view.sent, amount(view.sent));
  if (view.dropped > 0) add('dropped', 'Sent invalid data', view.dropped);
  return facts;
}

function Peers({ view }: { readonly view: PageView }) {
  const open = view.peers.filter(({ path }) => path !== 'connecting');
  const words = view.state === 'here' ? null : sources(view.peers, { open: view.encryption === 'none' });
  return (
    <section class="peers" aria-label="Connections">
      <h2>{open.length === 0 ? 'Not connected' : `Connected to ${open.length}`}</h2>
      {words !== null && <p class="soft small">{words}</p>}
      {view.peers.length > 0 && (
        <ul data-testid="peers">
          {view.peers.map((peer) => (
            <li key={peer.visitor} data-way={peer.path}>
              <span class={`peer-way ${peer.path}`}>{WAY[peer.path]}</span>
              <span class="soft small">{amounts(peer)}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function amounts({ received, sent, whole }: PagePeer): string {
  const parts = [
    ...(received > 0 ? [`received ${amount(received)} from it`] : []),
    ...(sent > 0 ? [`sent ${amount(sent)} to it`] : []),
    ...(whole ? ['it has the complete page'] : []),
  ];
  return parts.length === 0 ? 'no data yet' : parts.join(', ');
}
