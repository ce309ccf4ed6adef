import { Icon } from '../design/icon.tsx';
import { CallIcon } from './call-icon.tsx';
import type { CallSession } from './session.ts';

/** Grid or speaker, and the pages of a room that is larger than the stage. */
export function ViewControls({ session }: { readonly session: CallSession }) {
  const { view, page, pages, self } = session.stage;
  const others = session.snapshot.value.people.length;
  if (others === 0) return null;
  const speaker = view.value === 'speaker';
  const label = speaker ? 'Show everyone in a grid' : 'Show the active speaker';
  return (
    <>
      {pages.value > 1 && (
        <nav class="pager" aria-label="Pages of people" data-testid="pager">
          <Turn session={session} by={-1} label="Previous people" off={page.value === 0} />
          <span class="pager-at" role="status" aria-label={`Page ${page.value + 1} of ${pages.value}`}>
            {page.value + 1} / {pages.value}
          </span>
          <Turn session={session} by={1} label="Next people" off={page.value === pages.value - 1} />
        </nav>
      )}
      {!self.value && (
        <button
          type="button"
          class="button quiet icon-only"
          data-testid="show-self"
          aria-label="Show your own picture"
          title="Show your own picture"
          onClick={() => session.stage.showSelf(true)}
        >
          <CallIcon name="person" />
        </button>
      )}
      {others > 1 && (
        <button
          type="button"
          class="button quiet icon-only"
          data-testid="view"
          data-view={view.value}
          aria-label={label}
          aria-keyshortcuts="g"
          title={`${label} (g)`}
          onClick={() => session.stage.toggleView()}
        >
          <Icon name={speaker ? 'grid' : 'speaker'} />
        </button>
      )}
    </>
  );
}

interface TurnProps {
  readonly session: CallSession;
  readonly by: 1 | -1;
  readonly label: string;
  readonly off: boolean;
}

function Turn({ session, by, label, off }: TurnProps) {
  return (
    <button
      type="button"
      class={`button quiet icon-only turn ${by === 1 ? 'on' : 'back'}`}
      data-testid={by === 1 ? 'page-next' : 'page-before'}
      aria-label={label}
      aria-disabled={off}
      title={label}
      onClick={() => session.stage.turn(by)}
    >
      <Icon name="chevron" />
    </button>
  );
}
