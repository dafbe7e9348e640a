// The review of similar values of a column: each group with the value that replaces its values. The result is a step
// map_values.
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { SimilarValues } from '../studio-answers.ts';
import { ask } from './ask.ts';
import type { StepForm } from './step-form.ts';
import type { Studio } from './studio.ts';

/** A group, with the decision about it. */
interface Reviewed {
  readonly values: SimilarValues;
  readonly isChosen: boolean;
  readonly target: string;
}

export function SimilarValuesReview({
  studio,
  form,
  column,
  name,
}: {
  readonly studio: Studio;
  readonly form: StepForm;
  /** Index after the chosen step. */
  readonly column: number;
  readonly name: string;
}): JSX.Element {
  const [groups, setGroups] = useState<readonly Reviewed[] | null>(null);
  const table = useRef<HTMLTableElement>(null);
  useEffect(() => {
    const request = { step: studio.step.value, column };
    void ask<readonly SimilarValues[]>('POST /api/similar', request).then((found) =>
      setGroups(found.map((values) => ({ values, isChosen: true, target: values[0]!.text }))),
    );
  }, [column]);
  useLayoutEffect(() => table.current?.querySelector('input')?.focus(), [groups === null]);
  if (groups === null) return <p role="status">Looking for similar values…</p>;
  if (groups.length === 0) {
    return <p role="status">No values differ only in case, accents, punctuation, spaces or the order of words.</p>;
  }
  const change = (index: number, part: Partial<Reviewed>): void =>
    setGroups(groups.map((group, at) => (at === index ? { ...group, ...part } : group)));
  const map = mapOf(groups);
  return (
    <section aria-label="Similar values">
      <table ref={table}>
        <caption>Similar values, from up to 2,000 rows</caption>
        <thead>
          <tr>
            <th scope="col">Replace</th>
            <th scope="col">by</th>
          </tr>
        </thead>
        <tbody>
          {groups.map((group, index) => (
            <GroupRow key={group.values[0]!.text} group={group} onChange={(part) => change(index, part)} />
          ))}
        </tbody>
      </table>
      <p>
        <button
          type="button"
          class="first"
          disabled={Object.keys(map).length === 0}
          onClick={() => form.add('map_values', { columns: name, map })}
        >
          Make it a step…
        </button>
      </p>
    </section>
  );
}

function GroupRow({
  group: { values, isChosen, target },
  onChange,
}: {
  readonly group: Reviewed;
  readonly onChange: (part: Partial<Reviewed>) => void;
}): JSX.Element {
  return (
    <tr>
      <td>
        <label>
          <input
            type="checkbox"
            checked={isChosen}
            onChange={({ currentTarget }) => onChange({ isChosen: currentTarget.checked })}
          />{' '}
          {values.map(({ text, count }) => `${text} (${count})`).join(', ')}
        </label>
      </td>
      <td>
        <input
          type="text"
          aria-label={`New value of ${values[0]!.text}`}
          value={target}
          onInput={({ currentTarget }) => onChange({ target: currentTarget.value })}
        />
      </td>
    </tr>
  );
}

function mapOf(groups: readonly Reviewed[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    groups
      .filter(({ isChosen }) => isChosen)
      .flatMap(({ values, target }) => values.map(({ text }) => [text, target] as const))
      .filter(([text, target]) => text !== target),
  );
}
