// The inputs of a form, one component for each kind of field.

import type { JSX } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import type { WatchedColumn } from '../../../workers/watch/watch-messages.ts';
import type { FormField, FormProperty } from '../studio-answers.ts';
import { ask } from './ask.ts';
import {
  type ColumnChoice,
  chosenGroup,
  columnChoice,
  columnSet,
  fits,
  inputText,
  numberOf,
  type ObjectField,
  shownProperties,
  startOf,
  UNSET,
  variantOf,
  withGroup,
  withItem,
  withProperty,
} from './form-model.ts';
import { isSame } from './operation-edits.ts';

// What the inputs of a form are given.

/** Shared by all inputs of a form. */
export interface FormContext {
  /** Columns before the step. */
  readonly columns: readonly WatchedColumn[];
  /** Id of the list of column names that inputs complete. */
  readonly columnList: string;
  /** Id of the list of sheet names. */
  readonly sheetList: string;
  readonly note: (place: string, mistake: string | null) => void;
}

interface FieldProps<Field extends FormField = FormField> {
  readonly field: Field;
  readonly value: unknown;
  readonly label: string;
  /** Id of the element that explains the input. */
  readonly help?: string;
  readonly standard?: unknown;
  readonly context: FormContext;
  readonly place: string;
  readonly onChange: (value: unknown) => void;
}

// The input for a set of columns: some by name, all, all but some, or those of a pattern or type.

const MODES: readonly (readonly [ColumnChoice['mode'], string])[] = [
  ['names', 'these columns'],
  ['all', 'all columns'],
  ['except', 'all columns except'],
  ['pattern', 'names that match a pattern'],
  ['type', 'columns of a type'],
];

const TYPES = ['text', 'integer', 'decimal', 'number', 'boolean', 'date', 'datetime', 'json'];

function ColumnSetInput({ value, label, help, context, onChange }: FieldProps): JSX.Element {
  const [mode, setMode] = useState<ColumnChoice['mode']>('names');
  const choice = value === UNSET ? startOfSet(mode) : (columnChoice(value) ?? startOfSet(mode));
  const change = (next: ColumnChoice): void => {
    setMode(next.mode);
    const isUnset = (next.mode === 'names' && next.names.length === 0) || ('text' in next && next.text === '');
    onChange(isUnset ? UNSET : columnSet(next, Array.isArray(value)));
  };
  return (
    <fieldset class="column-set" aria-label={label} aria-describedby={help}>
      <select
        aria-label={`Which ${label}`}
        value={choice.mode}
        onChange={({ currentTarget }) => change(startOfSet(currentTarget.value as ColumnChoice['mode']))}
      >
        {MODES.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
      {'names' in choice && (
        <Names
          label={label}
          names={choice.names}
          known={context.columns.map(({ name }) => name)}
          onChange={(names) => change({ mode: choice.mode, names })}
        />
      )}
      {choice.mode === 'pattern' && (
        <input
          type="text"
          aria-label={`${label}, pattern`}
          value={choice.text}
          placeholder="^amount_"
          onInput={({ currentTarget }) => change({ mode: 'pattern', text: currentTarget.value })}
        />
      )}
      {choice.mode === 'type' && (
        <select
          aria-label={`${label}, type`}
          value={choice.text}
          onChange={({ currentTarget }) => change({ mode: 'type', text: currentTarget.value })}
        >
          {TYPES.map((type) => (
            <option key={type} value={type}>
              {type}
            </option>
          ))}
        </select>
      )}
    </fieldset>
  );
}

function startOfSet(mode: ColumnChoice['mode']): ColumnChoice {
  if (mode === 'names' || mode === 'except') return { mode, names: [] };
  return mode === 'all' ? { mode } : { mode, text: mode === 'type' ? TYPES[0]! : '' };
}

interface NamesProps {
  readonly label: string;
  readonly names: readonly string[];
  /** Columns before the step. */
  readonly known: readonly string[];
  readonly onChange: (names: readonly string[]) => void;
}

/** A tick for each column. Names are kept in the order in which they were ticked. */
function Names({ label, names, known, onChange }: NamesProps): JSX.Element {
  const all = [...known, ...names.filter((name) => !known.includes(name))];
  return (
    <div class="ticks">
      {all.map((name) => (
        <label key={name} class="tick">
          <input
            type="checkbox"
            checked={names.includes(name)}
            onChange={({ currentTarget }) =>
              onChange(currentTarget.checked ? [...names, name] : names.filter((other) => other !== name))
            }
          />
          {name}
          {!known.includes(name) && <span class="error"> not a column before this step</span>}
        </label>
      ))}
      {known.length === 0 && (
        <input
          type="text"
          aria-label={`${label}, add by name`}
          placeholder="name, then Enter"
          onKeyDown={(event) => {
            const name = event.currentTarget.value;
            if (event.key !== 'Enter' || name === '' || names.includes(name)) return;
            event.preventDefault();
            event.currentTarget.value = '';
            onChange([...names, name]);
          }}
        />
      )}
    </div>
  );
}

// The inputs of a form, one component for each kind of field. Each shows a value and reports the changed value.

export function FieldInput(props: FieldProps): JSX.Element {
  const { field, value } = props;
  if (value !== UNSET && !fits(field, value)) return <YamlInput {...props} />;
  switch (field.kind) {
    case 'text':
    case 'column':
      return <TextInput {...props} />;
    case 'number':
      return <NumberInput {...props} field={field} />;
    case 'boolean':
      return <ChoiceInput {...props} field={{ kind: 'choice', options: ['true', 'false'] }} isBoolean={true} />;
    case 'choice':
      return <ChoiceInput {...props} field={field} />;
    case 'constant':
      return <ConstantInput {...props} field={field} />;
    case 'columns':
      return <ColumnSetInput {...props} />;
    case 'list':
      return <ListInput {...props} field={field} />;
    case 'map':
      return <MapInput {...props} field={field} />;
    case 'object':
      return <ObjectInput {...props} field={field} />;
    case 'variants':
      return <VariantsInput {...props} field={field} />;
    case 'yaml':
      return <YamlInput {...props} />;
  }
}

function TextInput({ field, value, label, help, standard, context, onChange }: FieldProps): JSX.Element {
  return (
    <input
      type="text"
      aria-label={label}
      aria-describedby={help}
      spellcheck={false}
      autocomplete="off"
      value={inputText(value)}
      placeholder={standard === undefined ? '' : String(standard)}
      {...(field.kind === 'column'
        ? { list: context.columnList }
        : label === 'sheet'
          ? { list: context.sheetList }
          : {})}
      onInput={({ currentTarget }) => onChange(currentTarget.value === '' ? UNSET : currentTarget.value)}
    />
  );
}

function NumberInput({
  field,
  value,
  label,
  help,
  standard,
  context,
  place,
  onChange,
}: FieldProps<Extract<FormField, { kind: 'number' }>>): JSX.Element {
  // The text stays as it was typed while it is not a number.
  const [typed, setTyped] = useState<string | null>(null);
  const onInput = (text: string): void => {
    const number = numberOf(text, field.isInteger);
    const isMistake = text.trim() !== '' && number === null;
    context.note(place, isMistake ? `${label}: write a ${field.isInteger ? 'whole ' : ''}number.` : null);
    setTyped(isMistake || (number !== null && String(number) !== text) ? text : null);
    if (!isMistake) onChange(number ?? UNSET);
  };
  return (
    <input
      type="text"
      inputMode="decimal"
      aria-label={label}
      aria-describedby={help}
      autocomplete="off"
      value={typed ?? inputText(value)}
      placeholder={standard === undefined ? '' : String(standard)}
      onInput={({ currentTarget }) => onInput(currentTarget.value)}
    />
  );
}

function ChoiceInput({
  field,
  value,
  label,
  help,
  standard,
  onChange,
  isBoolean = false,
}: FieldProps<Extract<FormField, { kind: 'choice' }>> & { readonly isBoolean?: boolean }): JSX.Element {
  const choose = (text: string): void => {
    const option = field.options.find((each) => `${typeof each} ${each}` === text);
    onChange(option === undefined ? UNSET : isBoolean ? option === 'true' : option);
  };
  const chosen = isBoolean && value !== UNSET ? String(value) : value;
  return (
    <select
      aria-label={label}
      aria-describedby={help}
      value={chosen === UNSET ? '' : `${typeof chosen} ${chosen}`}
      onChange={({ currentTarget }) => choose(currentTarget.value)}
    >
      <option value="">{standard === undefined ? 'not set' : `${standard} (unless set)`}</option>
      {field.options.map((option) => (
        <option key={`${typeof option} ${option}`} value={`${typeof option} ${option}`}>
          {option}
        </option>
      ))}
    </select>
  );
}

function ConstantInput({
  field,
  value,
  label,
  help,
  onChange,
}: FieldProps<Extract<FormField, { kind: 'constant' }>>): JSX.Element {
  return (
    <label class="tick">
      <input
        type="checkbox"
        aria-describedby={help}
        aria-label={label}
        checked={value === field.value}
        onChange={({ currentTarget }) => onChange(currentTarget.checked ? field.value : UNSET)}
      />
      {String(field.value)}
    </label>
  );
}

function ListInput({
  field,
  value,
  label,
  help,
  context,
  place,
  onChange,
}: FieldProps<Extract<FormField, { kind: 'list' }>>): JSX.Element {
  const items = (value ?? []) as readonly unknown[];
  return (
    <fieldset class="entries" aria-label={label} aria-describedby={help}>
      {items.map((item, index) => (
        <div key={index} class="entry">
          <FieldInput
            field={field.item}
            value={item}
            label={`${label} ${index + 1}`}
            context={context}
            place={`${place}/${index}`}
            onChange={(changed) => onChange(withItem(items, index, changed ?? ''))}
          />
          <button
            type="button"
            class="small"
            aria-label={`Remove ${label} ${index + 1}`}
            onClick={() => {
              const left = items.filter((_, at) => at !== index);
              onChange(left.length === 0 ? UNSET : left);
            }}
          >
            ×
          </button>
        </div>
      ))}
      <button type="button" class="small" onClick={() => onChange([...items, startOf(field.item)])}>
        + {label}
      </button>
    </fieldset>
  );
}

type Pair = readonly [key: string, value: unknown];

function MapInput({
  field,
  value,
  label,
  help,
  context,
  place,
  onChange,
}: FieldProps<Extract<FormField, { kind: 'map' }>>): JSX.Element {
  // Kept as a list, because a mapping would sort keys that are numbers and could not hold a key twice while it is typed.
  const [typed, setTyped] = useState<readonly Pair[]>([]);
  const given = Object.entries((value ?? {}) as Readonly<Record<string, unknown>>);
  const pairs = isSame(Object.fromEntries(typed), Object.fromEntries(given)) ? typed : given;
  const change = (next: readonly Pair[]): void => {
    const keys = next.map(([key]) => key);
    const twice = keys.find((key, index) => keys.indexOf(key) !== index);
    context.note(place, twice === undefined ? null : `${label}: "${twice}" is given twice.`);
    setTyped(next);
    onChange(next.length === 0 ? UNSET : Object.fromEntries(next));
  };
  const rename = (index: number, key: string): void =>
    change(pairs.map((pair, at) => (at === index ? [key, pair[1]] : pair)));
  return (
    <fieldset class="entries" aria-label={label} aria-describedby={help}>
      {pairs.map(([key, part], index) => (
        <div key={index} class="entry" data-same={key === part}>
          <input
            type="text"
            aria-label={`${label} ${index + 1}, from`}
            list={context.columnList}
            autocomplete="off"
            spellcheck={false}
            value={key}
            onInput={({ currentTarget }) => rename(index, currentTarget.value)}
          />
          <span aria-hidden="true">→</span>
          <FieldInput
            field={field.value}
            value={part}
            label={`${label} ${index + 1}, to`}
            context={context}
            place={`${place}/${index}/value`}
            onChange={(changed) => change(pairs.map((pair, at) => (at === index ? [pair[0], changed ?? ''] : pair)))}
          />
          <button
            type="button"
            class="small"
            aria-label={`Remove ${label} ${index + 1}`}
            onClick={() => change(pairs.filter((_, at) => at !== index))}
          >
            ×
          </button>
        </div>
      ))}
      <button
        type="button"
        class="small"
        disabled={pairs.some(([key]) => key === '')}
        onClick={() => change([...pairs, ['', startOf(field.value)]])}
      >
        + {label}
      </button>
    </fieldset>
  );
}

function ObjectInput({ field, value, label, context, place, onChange }: FieldProps<ObjectField>): JSX.Element {
  return (
    <fieldset class="object" aria-label={label}>
      <Properties
        field={field}
        value={(value ?? {}) as Readonly<Record<string, unknown>>}
        context={context}
        place={place}
        onChange={onChange}
      />
    </fieldset>
  );
}

interface PropertiesProps {
  readonly field: ObjectField;
  readonly value: Readonly<Record<string, unknown>>;
  readonly context: FormContext;
  readonly place: string;
  readonly onChange: (value: Readonly<Record<string, unknown>>, group: number) => void;
  /** Chosen group of alternatives; unless given, the one that the value belongs to. */
  readonly group?: number | null;
}

/** The properties of a mapping, and which of their alternatives is used. */
export function Properties({ field, value, context, place, onChange, group: given }: PropertiesProps): JSX.Element {
  const [own, setOwn] = useState<number | null>(null);
  const group = given ?? own ?? chosenGroup(field, value);
  const choose = (next: number): void => {
    setOwn(next);
    onChange(withGroup(field, value, next), next);
  };
  return (
    <>
      {field.choices.length > 1 && (
        <label class="property">
          <span class="label">by</span>
          <select value={group} onChange={({ currentTarget }) => choose(Number(currentTarget.value))}>
            {field.choices.map((names, index) => (
              <option key={index} value={index}>
                {names.join(', ')}
              </option>
            ))}
          </select>
        </label>
      )}
      {shownProperties(field, value, group).map((property) => (
        <PropertyInput
          key={property.name}
          property={property}
          isRequired={property.isRequired || field.choices[group]?.includes(property.name) === true}
          value={value[property.name]}
          context={context}
          place={`${place}/${property.name}`}
          onChange={(changed) => onChange(withProperty(value, property.name, changed), group)}
        />
      ))}
    </>
  );
}

interface PropertyProps {
  readonly property: FormProperty;
  readonly isRequired: boolean;
  readonly value: unknown;
  readonly context: FormContext;
  readonly place: string;
  readonly onChange: (value: unknown) => void;
}

export function PropertyInput({ property, isRequired, value, context, place, onChange }: PropertyProps): JSX.Element {
  const help = useId();
  const { name, field, default: standard } = property;
  return (
    <div class="property" data-property={name}>
      <span class="label">
        {name}
        {isRequired && <span class="quiet"> (needed)</span>}
      </span>
      <FieldInput
        field={field}
        value={value}
        label={name}
        help={help}
        standard={standard}
        context={context}
        place={place}
        onChange={onChange}
      />
      <span id={help} class="help">
        <Prose text={property.help} />
      </span>
    </div>
  );
}

function VariantsInput(props: FieldProps<Extract<FormField, { kind: 'variants' }>>): JSX.Element {
  const { field, value, label, onChange } = props;
  const [own, setOwn] = useState(0);
  const { variants } = field;
  const variant = value === UNSET ? own : Math.max(0, variantOf(variants, value));
  const choose = (next: number): void => {
    setOwn(next);
    onChange(startOf(variants[next]!.field));
  };
  const chosen = variants[variant]!;
  return (
    <div class="variants">
      <select
        aria-label={`Kind of ${label}`}
        value={variant}
        onChange={({ currentTarget }) => choose(Number(currentTarget.value))}
      >
        {variants.map((each, index) => (
          <option key={index} value={index}>
            {each.label}
          </option>
        ))}
      </select>
      <FieldInput key={variant} {...props} field={chosen.field} />
    </div>
  );
}

/** The input for a value written as YAML. Reports a new value only when the text is valid YAML. */
function YamlInput({ value, label, help, context, place, onChange }: FieldProps): JSX.Element {
  const [typed, setTyped] = useState<string | null>(null);
  const latest = useRef('');
  const read = async (text: string): Promise<void> => {
    setTyped(text);
    latest.current = text;
    if (text.trim() === '') {
      context.note(place, null);
      onChange(UNSET);
      return;
    }
    const answer = await ask<{ readonly value: unknown } | { readonly mistake: string }>('POST /api/value', { text });
    if (latest.current !== text) return;
    context.note(place, 'mistake' in answer ? `${label}: ${answer.mistake}` : null);
    if ('value' in answer) onChange(answer.value);
  };
  return (
    <textarea
      aria-label={`${label}, as YAML`}
      aria-describedby={help}
      spellcheck={false}
      rows={3}
      value={typed ?? (value === UNSET ? '' : JSON.stringify(value, null, 1).replaceAll('\n', ' '))}
      onInput={({ currentTarget }) => void read(currentTarget.value)}
    />
  );
}

/** A text with code between backquotes. */
export function Prose({ text }: { readonly text: string }): JSX.Element {
  return <>{text.split('`').map((part, index) => (index % 2 === 0 ? part : <code key={index}>{part}</code>))}</>;
}
