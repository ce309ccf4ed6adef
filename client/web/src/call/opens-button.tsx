import type { CallSession } from './session.ts';

interface OpensButtonProps {
  readonly session: CallSession;
  readonly kind: 'statistics' | 'path';
  readonly label: string;
}

/** Another dialog in place of the one that it is in. */
export function OpensButton({ session, kind, label }: OpensButtonProps) {
  return (
    <button
      type="button"
      class="button"
      data-testid={`open-${kind}-dialog`}
      onClick={() => (session.dialog.value = { kind })}
    >
      {label}
    </button>
  );
}
