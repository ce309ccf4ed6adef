import { useRef } from 'preact/hooks';
import { CallIcon } from '../call-icon.tsx';
import type { CallSession } from '../session.ts';
import { shareFiles } from './files-of.ts';

/** Shares files of the device with everyone in the call. */
export function FileButton({ session }: { readonly session: CallSession }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        class="visually-hidden"
        type="file"
        multiple
        tabIndex={-1}
        aria-label="Files for everyone"
        data-testid="chat-file"
        onChange={(event) => {
          void shareFiles(session, event.currentTarget.files);
          event.currentTarget.value = '';
        }}
      />
      <button
        type="button"
        class="button quiet icon-only"
        data-testid="share-file"
        aria-label="Share files"
        title="Share files"
        onClick={() => input.current?.click()}
      >
        <CallIcon name="clip" />
      </button>
    </>
  );
}

/** The state of the file that is being shared. */
export function FileTrouble({ session }: { readonly session: CallSession }) {
  const files = session.files.value;
  if (files === null) return null;
  if (files.preparing.value > 0) return <Preparing refused={files.refused} />;
  const problem = files.problem.value;
  return problem === null ? null : (
    <p class="composer-left field-problem" role="alert" data-testid="file-problem">
      {problem}
    </p>
  );
}

function Preparing({ refused }: { readonly refused: string | null }) {
  return (
    <p class="composer-left soft small" role="status" data-testid="file-preparing">
      {refused ?? 'Preparing the file…'}
    </p>
  );
}
