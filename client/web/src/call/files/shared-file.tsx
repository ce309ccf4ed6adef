/** A file in the chat. */
import type { PageView } from '@parley/sdk/pages/api';
import { CallIcon } from '../call-icon.tsx';
import type { CallSession } from '../session.ts';
import { visibleName, type OfferedFile } from './file-line.ts';
import { filesOf } from './files-of.ts';
import './files.css';

interface SharedFileProps {
  readonly file: OfferedFile;
  readonly session: CallSession;
}

export function SharedFile({ file, session }: SharedFileProps) {
  const files = session.files.value;
  const view = files?.view(file.page);
  // What the sender wrote counts until the manifest is here.
  const name = view?.head?.name ? visibleName(view.head.name) : file.name;
  const size = (view && files?.sizeOf(view)) ?? file.size;
  const status = view && (files?.problemOf(view) ?? statusText(view));
  return (
    <div class="shared-file" data-testid="shared-file" data-state={view?.state ?? 'offered'}>
      <CallIcon name="clip" />
      <p>
        <strong>{name}</strong>
        <span class="soft small">{size}</span>
      </p>
      <FileAction file={file} view={view} name={name} session={session} />
      {view?.state === 'fetching' && view.chunks !== null && (
        <progress value={view.chunks.here} max={view.chunks.of} aria-label={`Downloading ${name}`} />
      )}
      {status !== undefined && (
        <p class="shared-file-status soft small" role="status" data-testid="file-status">
          {status}
        </p>
      )}
    </div>
  );
}

interface FileActionProps extends SharedFileProps {
  readonly view: PageView | undefined;
  readonly name: string;
}

function FileAction({ file, view, name, session }: FileActionProps) {
  const files = session.files.value;
  if (files === null || view === undefined || view.state === 'refused') {
    const fetch = async (): Promise<void> => (await filesOf(session))?.fetch(file.page, file.key);
    return <Action id="fetch" label="Download" name={name} onClick={() => void fetch()} />;
  }
  if (view.state !== 'here')
    return <Action id="cancel" label="Cancel" name={name} onClick={() => files.drop(file.page)} />;
  if (view.own)
    return <Action id="stop" label="Stop sharing" name={name} onClick={() => files.drop(file.page)} />;
  return <Action id="save" label="Save" name={name} onClick={() => files.save(file.page)} />;
}

interface ActionProps {
  readonly id: string;
  readonly label: string;
  readonly name: string;
  readonly onClick: () => void;
}

function Action({ id, label, name, onClick }: ActionProps) {
  return (
    <button
      type="button"
      class="button"
      data-testid={`file-${id}`}
      aria-label={`${label}: ${name}`}
      onClick={onClick}
    >
      {label}
    </button>
  );
}

function statusText({ state, own, holders, chunks, encryption }: PageView): string {
  if (encryption === 'wrong-key') return 'Its link is damaged, so that it cannot be read.';
  switch (state) {
    case 'finding':
      return 'Looking for a participant who has it…';
    case 'fetching':
      return chunks === null ? 'Downloading…' : `${Math.floor((100 * chunks.here) / chunks.of)} % is here`;
    case 'here':
      return own
        ? ownText(holders)
        : 'Saved. Others can get it from you until you leave the call or reload this page.';
    case 'gone':
      return 'No one who has it is here at the moment. It is downloaded when someone is.';
    case 'refused':
      return 'It could not be downloaded.';
    default:
      return state satisfies never;
  }
}

/** `holders` counts this tab. */
function ownText(holders: number | null): string {
  const others = Math.max(0, (holders ?? 1) - 1);
  if (others === 0) return 'Others can get it until you leave the call or reload this page.';
  return others === 1 ? 'One other has it.' : `${others} others have it.`;
}
