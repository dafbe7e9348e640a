// The form of a step, and the list of all operations for a new step.
//
// The focus moves before the browser paints. If it moved later, it could scroll the page between a press and its
// release.
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { WatchedColumn } from '../../../workers/watch/watch-messages.ts';
import type { LanguageOperation, OperationForm } from '../studio-answers.ts';
import { ask } from './ask.ts';
import { type FormContext, Properties, PropertyInput, Prose } from './form-fields.tsx';
import { unknownParameters, withProperty } from './form-model.ts';
import { flowText, type Parameters } from './operation-edits.ts';
import type { OpenForm, StepForm } from './step-form.ts';
import type { Studio } from './studio.ts';

// The list of all operations for a new step, with a search by name, purpose, and names in other programs.

export function OperationPicker({
  operations,
  form,
}: {
  readonly operations: readonly LanguageOperation[];
  readonly form: StepForm;
}): JSX.Element {
  const [search, setSearch] = useState('');
  const box = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    box.current?.querySelector('input')?.focus();
    return focusSteps;
  }, []);
  const found = foundOperations(operations, search);
  const onKeyDown = (event: KeyboardEvent): void => {
    const buttons = [...box.current!.querySelectorAll<HTMLElement>('input, .operations button')];
    const at = buttons.indexOf(document.activeElement as HTMLElement);
    if (event.key === 'ArrowDown') buttons[Math.min(buttons.length - 1, at + 1)]?.focus();
    else if (event.key === 'ArrowUp') buttons[Math.max(0, at - 1)]?.focus();
    else if (event.key === 'Enter' && at === 0 && found[0] !== undefined) form.add(found[0].name);
    else if (event.key === 'Escape') form.close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <section ref={box} class="picker" aria-label="New step" onKeyDown={onKeyDown}>
      <h2>New step</h2>
      <input
        type="search"
        aria-label="Search operations"
        placeholder="What should happen?"
        value={search}
        onInput={({ currentTarget }) => setSearch(currentTarget.value)}
      />
      <ul class="operations">
        {found.map(({ name, summary }) => (
          <li key={name}>
            <button type="button" onClick={() => form.add(name)}>
              <strong>{name}</strong> <Prose text={summary} />
            </button>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p>No operation matches. Try another word, such as "split" or "number".</p>}
      <p>
        <button type="button" onClick={() => form.close()}>
          Cancel
        </button>
      </p>
    </section>
  );
}

/** A menu opens the form of a new name with the old one, which is selected so that it can be replaced by typing. */
function focusFirst(box: HTMLElement): void {
  const [, replaced] = box.querySelector('.entry[data-same=true]')?.querySelectorAll('input') ?? [];
  const first = replaced ?? box.querySelector<HTMLElement>('select, input, textarea');
  first?.focus();
  replaced?.select();
}

/** A pane that closes gives the focus back to the list of steps. */
function focusSteps(): void {
  document.querySelector<HTMLElement>('.steps button[tabindex="0"]')?.focus();
}

/** Operations with all words of the search; those whose name begins with the search come first. */
export function foundOperations(
  operations: readonly LanguageOperation[],
  search: string,
): readonly LanguageOperation[] {
  const words = search
    .toLowerCase()
    .split(/[\s_]+/)
    .filter((word) => word !== '');
  const rank = ({ name, alsoCalled }: LanguageOperation): number => {
    if (name.startsWith(words.join('_'))) return 0;
    if (words.every((word) => name.includes(word))) return 1;
    return words.every((word) => alsoCalled.includes(word)) ? 2 : 3;
  };
  return operations
    .filter(({ name, summary, alsoCalled }) => {
      const text = `${name} ${alsoCalled} ${summary}`.toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .map((operation) => ({ operation, rank: words.length === 0 ? 0 : rank(operation) }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ operation }) => operation);
}

// The form of a step or section, beside the table: the parameters of its operation, problems of the preview, Apply and
// Cancel.

const COLUMN_LIST = 'form-columns';
const SHEET_LIST = 'form-sheets';

export function OperationFormPane({
  studio,
  form,
  open,
}: {
  readonly studio: Studio;
  readonly form: StepForm;
  readonly open: OpenForm;
}): JSX.Element {
  const box = useRef<HTMLFormElement>(null);
  const { subject, before, step } = open;
  useLayoutEffect(() => focusFirst(box.current!), [open]);
  useLayoutEffect(() => focusSteps, []);
  // The form of a section offers the columns after its step, the form of an operation those before it.
  const columns = columnsBefore(studio, open.item === null ? step + 1 : step);
  const context: FormContext = {
    columns,
    columnList: COLUMN_LIST,
    sheetList: SHEET_LIST,
    note: (place, mistake) => form.note(place, mistake),
  };
  const values = form.values.value;
  const { form: shape, name, summary } = subject;
  return (
    <form
      ref={box}
      class="step-form"
      aria-label={`${before === null ? 'Add' : 'Edit'} ${name}`}
      onSubmit={(event) => {
        event.preventDefault();
        form.apply();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.preventDefault();
        event.stopPropagation();
        form.close();
      }}
    >
      <h2>{open.item === null ? `Edit ${name}` : `${before === null ? 'Add' : 'Edit'} step ${step}: ${name}`}</h2>
      <p class="quiet">
        <Prose text={summary} />
      </p>
      <datalist id={COLUMN_LIST}>
        {columns.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {name === 'input' && <SheetNames />}
      <Fields shape={shape} values={values} context={context} form={form} />
      {shape.example !== null && (
        <p class="quiet">
          Example: <code>{flowText({ [name]: shape.example }, 'yaml')}</code>
        </p>
      )}
      <FormFooter studio={studio} form={form} />
    </form>
  );
}

/** The sheets of the sample, which the input of the sheet offers. */
function SheetNames(): JSX.Element {
  const [names, setNames] = useState<readonly string[]>([]);
  useEffect(() => {
    // Without the list, the name can be typed.
    ask<readonly string[]>('GET /api/sheets').then(setNames, () => {});
  }, []);
  return (
    <datalist id={SHEET_LIST}>
      {names.map((name) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  );
}

interface FieldsProps {
  readonly shape: OperationForm;
  readonly values: Parameters;
  readonly context: FormContext;
  readonly form: StepForm;
}

function Fields({ shape, values, context, form }: FieldsProps): JSX.Element {
  return (
    <>
      <Properties
        field={shape}
        value={values}
        context={context}
        place=""
        group={form.group.value}
        onChange={(changed, group) => form.change(changed, group)}
      />
      {unknownParameters(shape, values).map((name) => (
        <PropertyInput
          key={name}
          property={{
            name,
            help: 'The form does not know this parameter.',
            isRequired: false,
            field: { kind: 'yaml' },
          }}
          isRequired={false}
          value={values[name]}
          context={context}
          place={`/${name}`}
          onChange={(changed) => form.change(withProperty(values, name, changed))}
        />
      ))}
      {shape.further.length > 0 && (
        <details open={shape.further.some(({ name }) => name in values)}>
          <summary>More settings</summary>
          {shape.further.map((property) => (
            <PropertyInput
              key={property.name}
              property={property}
              isRequired={false}
              value={values[property.name]}
              context={context}
              place={`/${property.name}`}
              onChange={(changed) => form.change(withProperty(values, property.name, changed))}
            />
          ))}
        </details>
      )}
    </>
  );
}

function FormFooter({ studio, form }: { readonly studio: Studio; readonly form: StepForm }): JSX.Element {
  const missing = form.missing.value;
  const mistakes = [...form.mistakes.value.values()];
  const { written } = form;
  const cannot = written === null && missing.length === 0 && mistakes.length === 0 && !form.isOutdated;
  return (
    <div class="footer">
      <div role="status" class="error">
        {mistakes.map((mistake) => (
          <p key={mistake}>{mistake}</p>
        ))}
        {studio.previewProblems.value.map(({ code, message }) => (
          <p key={message}>
            {code}: {message}
          </p>
        ))}
        {form.isOutdated && <p>The text has changed at this place. Close this form, and open it again.</p>}
        {cannot && <p>This part is written in a form that can be edited only in the text.</p>}
      </div>
      {missing.length > 0 && <p class="quiet">Still needed: {missing.join(', ')}.</p>}
      <button type="submit" class="first" disabled={written === null}>
        Apply
      </button>{' '}
      <button type="button" onClick={() => form.close()}>
        Cancel
      </button>
      {form.open.value?.subject.name === 'input' && (
        <>
          {' '}
          <button
            type="button"
            title="Writes a new Template for the file as these settings read it"
            disabled={mistakes.length > 0 || studio.isRunning.value}
            onClick={() => void form.draft()}
          >
            New draft
          </button>
        </>
      )}
    </div>
  );
}

/** Columns before a step. They stay the same while the step's own form is edited. */
function columnsBefore(studio: Studio, step: number): readonly WatchedColumn[] {
  const steps = studio.watched.value?.steps ?? [];
  return steps[Math.min(step - 1, steps.length - 1)]?.columns ?? [];
}
