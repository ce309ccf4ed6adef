import type { CallSession } from './session.ts';

interface DialogButtonProps {
  readonly session: CallSession;
  readonly kind: 'statistics' | 'path';
  readonly label: string;
}

/** Opens another dialog in place of the current one. */
export function DialogButton({ session, kind, label }: DialogButtonProps) {
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
