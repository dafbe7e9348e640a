// The header of a column: its name, its type and a short profile. The full profile is shown beside the table.
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Counted, Profile } from '../../../workers/watch/column-profile.ts';
import type { ValueRange, WatchedColumn } from '../../../workers/watch/watch-messages.ts';
import type { SimilarityMethod, SimilarValues, SimilarValuesAnswer } from '../studio-answers.ts';
import { ask } from './ask.ts';
import type { StepForm } from './step-form.ts';
import type { Studio } from './studio.ts';

const BAR_WIDTH = 8;
const BARS_HEIGHT = 16;
const BARS_MAX = 12;

export function ColumnHead({
  studio,
  column,
  index,
}: {
  readonly studio: Studio;
  readonly column: WatchedColumn;
  readonly index: number;
}): JSX.Element {
  const profile = profileOf(studio, index);
  return (
    <>
      <span class="column-name">
        {column.name}
        <span class="type">:{column.type}</span>
      </span>
      {profile !== null && (
        <>
          <Bars counts={profile.histogram ?? profile.frequent.map(({ count }) => count)} />
          <span class="counts">
            {percent(profile.blank, profile.rows)} blank {distinct(profile, '>')}
          </span>
        </>
      )}
    </>
  );
}

/** Fingerprints first: such values are rarely different things. */
const FIRST_METHOD: SimilarityMethod = { method: 'fingerprint', threshold: 0.9 };

export function ProfilePanel({
  studio,
  form,
}: {
  readonly studio: Studio;
  readonly form: StepForm;
}): JSX.Element | null {
  const index = studio.profiled.value;
  if (index === null) return null;
  const { value: reviewed } = studio.reviewed;
  const profile = profileOf(studio, index);
  const column = studio.chosen.value?.columns[index];
  if (profile === null || column === undefined) return null;
  const { name, type } = column;
  const errors = Object.values(studio.chosen.value?.errors ?? {}).reduce((sum, entry) => sum + (entry?.count ?? 0), 0);
  return (
    <section class="details" aria-label="Profile of a column">
      <h2>
        {name} <span class="type">{type}</span>
      </h2>
      <p>
        {profile.rows} rows, {profile.blank} blank, {distinct(profile, 'more than ')}
        {profile.least !== null && `, from ${profile.least} to ${profile.most}`}
      </p>
      {type === 'text' && profile.distinct > 1 && (
        <p>
          <button
            type="button"
            aria-expanded={reviewed !== null}
            onClick={() => {
              studio.reviewed.value = reviewed === null ? FIRST_METHOD : null;
            }}
          >
            Similar values…
          </button>
        </p>
      )}
      {reviewed !== null && type === 'text' && (
        <SimilarValuesReview key={name} studio={studio} form={form} column={index} name={name} method={reviewed} />
      )}
      <RangeTable studio={studio} column={name} type={type} profile={profile} />
      <FacetTable studio={studio} column={name} type={type} profile={profile} />
      {errors > 0 && (
        <p>
          <button
            type="button"
            onClick={() => {
              studio.filter.value = 'errors';
            }}
          >
            Errors of this step ({errors})
          </button>
        </p>
      )}
      {profile.shapes.length > 0 && <CountTable caption="Shapes" counts={profile.shapes} />}
    </section>
  );
}

/** The intervals of numbers and dates. A click shows only the rows of an interval, a second one all rows again. */
function RangeTable({ studio, column, type, profile }: FacetProps): JSX.Element | null {
  const { histogram, edges, least, most } = profile;
  if (histogram === null || least === most) return null;
  const chosen = studio.facet.value;
  const counts = histogram
    .map((count, bar) => ({ count, range: { from: edges[bar - 1] ?? null, to: edges[bar] ?? null } }))
    .filter(({ count }) => count > 0);
  const largest = Math.max(...counts.map(({ count }) => count));
  return (
    <table>
      <caption>Ranges: a click shows only these rows</caption>
      <tbody>
        {counts.map(({ count, range }) => {
          const { from, to } = range;
          const isChosen = chosen?.column === column && chosen.range?.from === from && chosen.range.to === to;
          return (
            <tr key={from ?? ''}>
              <td>
                <button
                  type="button"
                  class="facet"
                  aria-pressed={isChosen}
                  onClick={() => {
                    studio.facet.value = isChosen ? null : { column, type, text: null, range };
                  }}
                >
                  {rangeText(range, least)}
                </button>
              </td>
              <td class="share" aria-hidden="true">
                <meter max={largest} value={count} />
              </td>
              <td class="number">{count}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** @param least the minimum of the column */
export function rangeText({ from, to }: ValueRange, least: string | null = null): string {
  if (to === null) return `from ${from}`;
  return from === null && least === null ? `below ${to}` : `${from ?? least} to below ${to}`;
}

interface FacetProps {
  readonly studio: Studio;
  readonly column: string;
  readonly type: string;
  readonly profile: Profile;
}

/** The most frequent values and the blank cells. A click shows only their rows, a second one all rows again. */
function FacetTable({ studio, column, type, profile }: FacetProps): JSX.Element {
  const chosen = studio.facet.value;
  const values: readonly { readonly text: string | null; readonly count: number }[] = [
    ...(profile.blank > 0 ? [{ text: null, count: profile.blank }] : []),
    ...profile.frequent,
  ];
  return (
    <table>
      <caption>Most frequent: a click shows only these rows</caption>
      <tbody>
        {values.map(({ text, count }) => {
          const isChosen = chosen?.column === column && chosen.range === null && chosen.text === text;
          return (
            <tr key={text ?? ''}>
              <td>
                <button
                  type="button"
                  class="facet"
                  aria-pressed={isChosen}
                  onClick={() => {
                    studio.facet.value = isChosen ? null : { column, type, text, range: null };
                  }}
                >
                  {text ?? <em>blank</em>}
                </button>
              </td>
              <td class="number">{count}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function CountTable({
  caption,
  counts,
}: {
  readonly caption: string;
  readonly counts: readonly Counted[];
}): JSX.Element {
  return (
    <table>
      <caption>{caption}</caption>
      <tbody>
        {counts.map(({ text, count }) => (
          <tr key={text}>
            <td>{text}</td>
            <td class="number">{count}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/**
 * The profile of a column, if the watched step is the selected one. Profiles of another step are unknown until that
 * step has been watched.
 */
export function profileOf(studio: Studio, index: number): Profile | null {
  const watched = studio.watched.value;
  if (watched === null || watched.profiledStep !== studio.step.value || studio.filter.value === 'errors') return null;
  return watched.profiles[index] ?? null;
}

function Bars({ counts }: { readonly counts: readonly number[] }): JSX.Element {
  const shown = counts.slice(0, BARS_MAX);
  const most = Math.max(1, ...shown);
  return (
    <svg class="bars" aria-hidden="true" width={BARS_MAX * BAR_WIDTH} height={BARS_HEIGHT}>
      {shown.map((count, index) => {
        const height = count === 0 ? 0 : Math.max(1, (count / most) * BARS_HEIGHT);
        return (
          <rect key={index} x={index * BAR_WIDTH} y={BARS_HEIGHT - height} width={BAR_WIDTH - 1} height={height} />
        );
      })}
    </svg>
  );
}

function percent(part: number, whole: number): string {
  if (part === 0 || whole === 0) return '0%';
  const share = (part / whole) * 100;
  return share < 1 ? '<1%' : `${Math.floor(share)}%`;
}

/** Distinct long texts are not counted. */
function distinct({ distinct: count, moreDistinct }: Profile, more: string): string {
  if (moreDistinct && count === 0) return 'long texts';
  return `${moreDistinct ? more : ''}${count} distinct`;
}

// The review of similar values of a column: how they are found, and each group with the value that replaces its values.
// The result is a step map_values.

/** A group, with the decision about it. */
interface Reviewed {
  readonly values: SimilarValues;
  readonly isChosen: boolean;
  readonly target: string;
}

interface Review {
  readonly found: SimilarValuesAnswer;
  readonly groups: readonly Reviewed[];
}

export function SimilarValuesReview({
  studio,
  form,
  column,
  name,
  method: first,
}: {
  readonly studio: Studio;
  readonly form: StepForm;
  /** Index after the chosen step. */
  readonly column: number;
  readonly name: string;
  /** The method that is selected at first. */
  readonly method: SimilarityMethod;
}): JSX.Element {
  const [method, setMethod] = useState(first);
  const [review, setReview] = useState<Review | null>(null);
  const section = useRef<HTMLElement>(null);
  useEffect(() => setMethod(first), [first]);
  useEffect(() => {
    let isLast = true;
    const thresholdPercent = Math.round(method.threshold * 100);
    const request = { step: studio.step.value, column, method: method.method, thresholdPercent };
    void ask<SimilarValuesAnswer>('POST /api/similar', request).then((found) => {
      if (isLast) setReview((before) => reviewOf(found, method, before));
    });
    return () => {
      isLast = false;
    };
  }, [column, method.method, method.threshold]);
  useLayoutEffect(() => section.current?.querySelector<HTMLElement>('select')?.focus(), []);
  const change = (groups: readonly Reviewed[]): void => setReview({ found: review!.found, groups });
  const map = mapOf(review?.groups ?? []);
  return (
    <section ref={section} class="similar" aria-label="Similar values">
      <MethodChoice method={method} onChange={setMethod} />
      <p role="status">{review === null ? 'Looking for similar values…' : foundText(review, method)}</p>
      {review !== null && review.groups.length > 0 && (
        <>
          <GroupTable groups={review.groups} onChange={change} />
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
        </>
      )}
    </section>
  );
}

/** Groups with an equal fingerprint are chosen at first. Other similar values may be different things. */
function reviewOf(found: SimilarValuesAnswer, { method }: SimilarityMethod, before: Review | null): Review {
  const keyOf = (values: SimilarValues): string => JSON.stringify(values.map(({ text }) => text));
  const decided = new Map((before?.groups ?? []).map((group) => [keyOf(group.values), group]));
  const groups = found.groups.map(
    (values) => decided.get(keyOf(values)) ?? { values, isChosen: method === 'fingerprint', target: values[0]!.text },
  );
  return { found, groups };
}

function foundText({ found, groups }: Review, { method }: SimilarityMethod): string {
  const { values, valuesCompared, groupsFound } = found;
  const compared =
    valuesCompared < values ? `The ${valuesCompared} most frequent of ${values} values were compared. ` : '';
  if (groups.length === 0) {
    const none =
      method === 'fingerprint'
        ? 'No values differ only in case, accents, punctuation, spaces or the order of words.'
        : 'No values reach this similarity.';
    return compared + none;
  }
  const shown = groups.length < groupsFound ? `, of which ${groups.length} are shown` : '';
  return `${compared}${groupsFound} ${groupsFound === 1 ? 'group' : 'groups'} in up to 2,000 rows${shown}.`;
}

const METHODS = { fingerprint: 'Same letters and digits', similarity: 'Similar spelling' } as const;

function MethodChoice({
  method: { method, threshold },
  onChange,
}: {
  readonly method: SimilarityMethod;
  readonly onChange: (method: SimilarityMethod) => void;
}): JSX.Element {
  return (
    <p class="method">
      <label>
        Method{' '}
        <select
          value={method}
          onChange={({ currentTarget }) =>
            onChange({ method: currentTarget.value as SimilarityMethod['method'], threshold })
          }
        >
          {Object.entries(METHODS).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {method === 'similarity' && (
        <label>
          Minimum similarity{' '}
          <input
            type="range"
            min="50"
            max="100"
            value={Math.round(threshold * 100)}
            onChange={({ currentTarget }) => onChange({ method, threshold: Number(currentTarget.value) / 100 })}
          />{' '}
          {threshold.toFixed(2)}
        </label>
      )}
    </p>
  );
}

function GroupTable({
  groups,
  onChange,
}: {
  readonly groups: readonly Reviewed[];
  readonly onChange: (groups: readonly Reviewed[]) => void;
}): JSX.Element {
  const all = (isChosen: boolean): void => onChange(groups.map((group) => ({ ...group, isChosen })));
  return (
    <>
      <p>
        <button type="button" class="small" onClick={() => all(true)}>
          Select all
        </button>{' '}
        <button type="button" class="small" onClick={() => all(false)}>
          Select none
        </button>
      </p>
      <table>
        <caption>Click the value to keep</caption>
        <thead>
          <tr>
            <th scope="col">Replace</th>
            <th scope="col">by</th>
          </tr>
        </thead>
        <tbody>
          {groups.map((group, index) => (
            <GroupRow
              key={group.values[0]!.text}
              group={group}
              onChange={(part) => onChange(groups.map((each, at) => (at === index ? { ...each, ...part } : each)))}
            />
          ))}
        </tbody>
      </table>
    </>
  );
}

function GroupRow({
  group: { values, isChosen, target },
  onChange,
}: {
  readonly group: Reviewed;
  readonly onChange: (part: Partial<Reviewed>) => void;
}): JSX.Element {
  const counted = values.map(({ text, count }) => `${text} (${count})`);
  return (
    <tr>
      <td>
        <input
          type="checkbox"
          aria-label={counted.join(', ')}
          checked={isChosen}
          onChange={({ currentTarget }) => onChange({ isChosen: currentTarget.checked })}
        />
        <ul>
          {values.map(({ text }, index) => (
            <li key={text}>
              <button
                type="button"
                class="facet"
                aria-label={`Keep ${text}`}
                aria-pressed={target === text}
                onClick={() => onChange({ target: text, isChosen: true })}
              >
                {counted[index]}
              </button>
            </li>
          ))}
        </ul>
      </td>
      <td>
        <input
          type="text"
          aria-label={`New value of ${values[0]!.text}`}
          value={target}
          onInput={({ currentTarget }) => onChange({ target: currentTarget.value, isChosen: true })}
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
