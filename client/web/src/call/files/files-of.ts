import { canHoldPages } from '@parley/sdk/browser-ports';
import type { CallSession } from '../session.ts';
import type { CallFiles } from './call-files.ts';

/** The files of a call. Their part of the application is loaded with the first one; `null`: it did not load. */
export async function filesOf(session: CallSession): Promise<CallFiles | null> {
  if (!canHoldPages()) {
    session.notices.show('This browser cannot share or download files.', 'trouble');
    return null;
  }
  try {
    const { openCallFiles } = await import('./call-files.ts');
    if (session.closed) return null;
    session.files.value ??= openCallFiles();
    return session.files.value;
  } catch {
    session.notices.show(
      'A part of this page did not load. Check your connection, and try again.',
      'trouble',
    );
    return null;
  }
}

/** One after the other, up to the first that cannot be shared. */
export async function shareFiles(session: CallSession, given: FileList | null | undefined): Promise<void> {
  // The list of an input is emptied with it.
  const list = [...(given ?? [])];
  if (list.length === 0) return;
  const files = await filesOf(session);
  if (files === null) return;
  for (const file of list) {
    await files.share(file, (line) => session.sendChat(line));
    if (files.problem.peek() !== null) return;
  }
}

export function pasteFiles(session: CallSession, event: ClipboardEvent): void {
  const pasted = event.clipboardData;
  // Cells of a table come with a picture of them.
  if (!pasted?.files.length || pasted.types.includes('text/plain')) return;
  event.preventDefault();
  void shareFiles(session, pasted.files);
}
