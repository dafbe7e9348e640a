// The header of a column: its name, its type and a short profile. The full profile is shown beside the table.
import type { JSX } from 'preact';
import type { Counted, Profile } from '../../../workers/watch/column-profile.ts';
import type { WatchedColumn } from '../../../workers/watch/watch-messages.ts';
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
          <span class="figures">
            {percent(profile.blank, profile.rows)} blank {distinct(profile, '>')}
          </span>
        </>
      )}
    </>
  );
}

export function ProfilePanel({ studio }: { readonly studio: Studio }): JSX.Element | null {
  const index = studio.profiled.value;
  if (index === null) return null;
  const profile = profileOf(studio, index);
  const column = studio.chosen.value?.columns[index];
  if (profile === null || column === undefined) return null;
  return (
    <section class="details" aria-label="Profile of a column">
      <h2>
        {column.name} <span class="type">{column.type}</span>
      </h2>
      <p>
        {profile.rows} rows, {profile.blank} blank, {distinct(profile, 'more than ')}
        {profile.least !== null && `, from ${profile.least} to ${profile.most}`}
      </p>
      <CountTable caption="Most frequent" counts={profile.frequent} />
      {profile.shapes.length > 0 && <CountTable caption="Shapes" counts={profile.shapes} />}
    </section>
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
