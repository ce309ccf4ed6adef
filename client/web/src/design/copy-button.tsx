import { useEffect, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

export interface CopyButtonProps {
  readonly text: string;
  readonly label: string;
  readonly primary?: boolean;
  readonly testid?: string;
}

/** How long "Copied" is shown. */
const SHOWN_MS = 2000;

export function CopyButton({ text, label, primary = false, testid }: CopyButtonProps) {
  const [state, setState] = useState<'idle' | 'copied' | 'refused'>('idle');
  useEffect(() => {
    if (state === 'idle') return undefined;
    const timer = setTimeout(() => setState('idle'), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [state]);
  return (
    <button
      type="button"
      class={`button${primary ? ' primary' : ''}`}
      data-testid={testid}
      onClick={() => void copyText(text).then((done) => setState(done ? 'copied' : 'refused'))}
    >
      <Icon name={state === 'copied' ? 'check' : 'copy'} />
      <span aria-live="polite">
        {state === 'copied' ? 'Copied' : state === 'refused' ? 'Select it to copy' : label}
      </span>
    </button>
  );
}

/** `false` if the browser refuses, as it does on pages without https. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
