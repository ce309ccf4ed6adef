/** The field and button that open a stream or a broadcast by its name or link. */
import { Icon } from '../design/icon.tsx';

export interface AddressFormProps {
  readonly label: string;
  readonly id: string;
  readonly example: string;
  readonly text: string;
  readonly problem: string | null;
  readonly onText: (text: string) => void;
  readonly onSubmit: () => void;
}

export function AddressForm({ label, id, example, text, problem, onText, onSubmit }: AddressFormProps) {
  return (
    <form
      class="topic-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <label class="field">
        <span class="label">{label}</span>
        <input
          class="input"
          data-testid={id}
          placeholder={example}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          value={text}
          aria-invalid={problem !== null}
          aria-describedby={`${id}-problem`}
          onInput={(event) => onText(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="button primary" data-testid="watch" disabled={text.trim() === ''}>
        Watch
        <Icon name="arrow" />
      </button>
      <p id={`${id}-problem`} class="field-problem" role="alert" data-testid={`${id}-problem`}>
        {problem}
      </p>
    </form>
  );
}
