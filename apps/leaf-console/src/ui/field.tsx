import type { JSX } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly hint?: string | undefined;
  readonly fault?: string | undefined;
  readonly type?: 'text' | 'password' | 'search';
  readonly required?: boolean;
  readonly digits?: boolean;
  readonly maxLength?: number;
  readonly list?: string;
  readonly class?: string;
}

/** A text input with a label, and a hint or an error. */
export function Field(props: FieldProps): JSX.Element {
  const { label, value, onValue, hint, fault, type = 'text', required, digits, maxLength, list } = props;
  const id = useId();
  const message = fault ?? hint;
  const kind = type === 'password' ? { type } : list === undefined ? { type } : { type, list };
  return (
    <div class={`field ${props.class ?? ''}`}>
      <label for={id}>{label}</label>
      <input
        id={id}
        {...kind}
        value={value}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
        required={required}
        maxLength={maxLength}
        inputMode={digits === true ? 'numeric' : undefined}
        autoComplete="off"
        autoCapitalize="off"
        spellcheck={false}
        aria-invalid={fault !== undefined}
        aria-describedby={message === undefined ? undefined : `${id}-message`}
      />
      {message !== undefined && (
        <p
          id={`${id}-message`}
          class={fault === undefined ? 'hint' : 'fault'}
          role={fault === undefined ? undefined : 'alert'}
        >
          {message}
        </p>
      )}
    </div>
  );
}

interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly (readonly [Value, string])[];
  readonly onValue: (value: Value) => void;
  readonly class?: string;
}

/** A select with a label. */
export function Choice<Value extends string>(props: ChoiceProps<Value>): JSX.Element {
  const { label, value, options, onValue } = props;
  const id = useId();
  return (
    <div class={`field ${props.class ?? ''}`}>
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={({ currentTarget }) => onValue(currentTarget.value as Value)}>
        {options.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}
