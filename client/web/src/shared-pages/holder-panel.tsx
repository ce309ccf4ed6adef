/** The panel with holders, readers and transfers of a page. */
import type { PagePeer, PageView } from '@parley/sdk/pages/api';
import { Icon } from '../design/icon.tsx';
import { formatCount } from '../streams/format.ts';
import { Facts, FiguresAside, type Fact } from '../streams/figures.tsx';
import { Sparkline } from '../streams/sparkline.tsx';
import { formatBinarySize, historyText, sourcesText, PATH_LABELS } from './page-text.ts';
import { stepPoints } from './step-chart.ts';

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
          {view.holders === null ? '…' : formatCount(view.holders)}
        </p>
        <Sparkline points={stepPoints(view.history, Date.now())} />
        <p class="soft small">{historyText(view.history, Date.now())}</p>
      </div>
      <Facts facts={factsOf(view, visitors)} />
      <Peers view={view} />
      <div class="shared-page-close">
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
  add('readers', 'Fetching it', view.readers, formatCount(view.readers ?? 0));
  add('visitors', 'Visitors here', visitors, formatCount(visitors ?? 0));
  add('bytes', 'Size', view.head?.bytes ?? null, formatBinarySize(view.head?.bytes ?? 0));
  if (view.path !== 'connecting') add('path', 'Path', view.path, PATH_LABELS[view.path]);
  add('received', 'Received', view.received, formatBinarySize(view.received));
  add('sent', 'Sent to others', view.sent, formatBinarySize(view.sent));
  if (view.dropped > 0) add('dropped', 'Sent invalid data', view.dropped);
  return facts;
}

function Peers({ view }: { readonly view: PageView }) {
  const open = view.peers.filter(({ path }) => path !== 'connecting');
  const text =
    view.state === 'here' ? null : sourcesText(view.peers, { readable: view.encryption === 'none' });
  return (
    <section class="peers" aria-label="Connections">
      <h2>{open.length === 0 ? 'Not connected' : `Connected to ${open.length}`}</h2>
      {text !== null && <p class="soft small">{text}</p>}
      {view.peers.length > 0 && (
        <ul data-testid="peers">
          {view.peers.map((peer) => (
            <li key={peer.visitor} data-path={peer.path}>
              <span class={`peer-path ${peer.path}`}>{PATH_LABELS[peer.path]}</span>
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
    ...(received > 0 ? [`received ${formatBinarySize(received)} from it`] : []),
    ...(sent > 0 ? [`sent ${formatBinarySize(sent)} to it`] : []),
    ...(whole ? ['it has the complete page'] : []),
  ];
  return parts.length === 0 ? 'no data yet' : parts.join(', ');
}
