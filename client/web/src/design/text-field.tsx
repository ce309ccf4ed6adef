interface TextFieldProps {
  readonly label: string;
  readonly testid: string;
  readonly value: string;
  readonly placeholder?: string;
  readonly numeric?: boolean;
  /** The id of the element that describes the problem. */
  readonly problemId: string;
  readonly invalid: boolean;
  readonly onValue: (value: string) => void;
}

/** A line of text that a browser neither completes nor corrects. */
export function TextField(props: TextFieldProps) {
  return (
    <label class="field">
      <span class="label">{props.label}</span>
      <input
        class="input"
        data-testid={props.testid}
        placeholder={props.placeholder}
        inputMode={props.numeric ? 'numeric' : undefined}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        value={props.value}
        aria-invalid={props.invalid}
        aria-describedby={props.problemId}
        onInput={(event) => props.onValue(event.currentTarget.value)}
      />
    </label>
  );
}
