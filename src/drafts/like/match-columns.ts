// Which column of a sample is which column of a target, by their names and by what stands in their cells. Only a match that is sure,
// and surer than any other of the two columns, is accepted.
import type { ColumnProfile } from '../column-profile.ts';
import { assign } from './assignment.ts';
import { NameScore } from './name-score.ts';
import { type ColumnKind, isDigits, kindOf, type TargetColumn } from './target-column.ts';

export interface SampleColumn {
  readonly header: string;
  readonly profile: ColumnProfile;
}

export interface ColumnMatching {
  /** By position. */
  readonly sample: number;
  readonly target: number;
  readonly score: number;
  readonly nameScore: number;
  /** Null: nothing is known to compare. */
  readonly valueScore: number | null;
  /** The best that either column could have instead. */
  readonly next: number;
  readonly isAccepted: boolean;
}

const ACCEPTED_MIN = 0.75;
const MARGIN_MIN = 0.15;

/** What is less like than this is not even offered. */
const OFFERED_MIN = 0.45;

/** How much what stands in cells counts beside the name, where both are known. */
const VALUE_WEIGHT = 0.35;

/** Equal but for spelling. */
const SAME_NAME = 0.97;

/** A column of another kind can hardly be meant. */
const OTHER_KIND = 0.4;
/** A name that says little is surer where the kinds are the same, and not texts, as most are. */
const SAME_KIND = 0.1;

/**
 * Pairs of columns that are compared, 500 with 500: a second on one core, and some 30 MB. With more of them equal names
 * alone count.
 */
const PAIRS_MAX = 250_000;

interface Scored {
  readonly score: number;
  readonly nameScore: number;
  readonly valueScore: number | null;
}

/** One for each target that has a likely column, in the order of the targets. */
export function matchColumns(sample: readonly SampleColumn[], targets: readonly TargetColumn[]): ColumnMatching[] {
  if (sample.length * targets.length > PAIRS_MAX) return equalNames(sample, targets);
  const names = new NameScore();
  const known = sample.map(knownOf);
  const wanted = targets.map((target) => ({ ...target, shapes: new Set([...(target.values ?? [])].map(shapeOf)) }));
  const scored = wanted.map((target) => known.map((column) => scoreOf(column, target, names)));
  const chosen = assign(scored.map((row) => row.map(({ score }) => score)));
  return chosen.flatMap((column, target) => {
    if (column === null) return [];
    const found = scored[target]![column]!;
    if (found.score < OFFERED_MIN) return [];
    let next = 0;
    for (const [at, { score }] of scored[target]!.entries()) if (at !== column) next = Math.max(next, score);
    for (const [at, row] of scored.entries()) if (at !== target) next = Math.max(next, row[column]!.score);
    const isAccepted = found.score >= ACCEPTED_MIN && found.score - next >= MARGIN_MIN;
    return [{ sample: column, target, ...found, next, isAccepted }];
  });
}

/** A name that stands twice on either side is nobody's. */
function equalNames(sample: readonly SampleColumn[], targets: readonly TargetColumn[]): ColumnMatching[] {
  const places = placesOf(sample.map(({ header }) => header));
  const wanted = placesOf(targets.map(({ name }) => name));
  return targets.flatMap(({ name }, target) => {
    const [column, ...more] = places.get(name.trim()) ?? [];
    if (column === undefined || more.length > 0 || wanted.get(name.trim())!.length > 1) return [];
    return [{ sample: column, target, score: 1, nameScore: 1, valueScore: null, next: 0, isAccepted: true }];
  });
}

function placesOf(names: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  for (const [at, name] of names.entries()) {
    const known = places.get(name.trim());
    if (known === undefined) places.set(name.trim(), [at]);
    else known.push(at);
  }
  return places;
}

/** What is compared of a column of the sample; made once, as it is compared with each target. */
interface KnownColumn {
  readonly header: string;
  readonly kind: ColumnKind | null;
  readonly isDigits: boolean;
  readonly texts: readonly string[];
  readonly shapes: readonly string[];
}

function knownOf({ header, profile }: SampleColumn): KnownColumn {
  const texts = [...(profile.values?.keys() ?? [])];
  return { header, kind: kindOf(profile), isDigits: isDigits(profile), texts, shapes: texts.map(shapeOf) };
}

interface WantedColumn extends TargetColumn {
  readonly shapes: ReadonlySet<string>;
}

function scoreOf(column: KnownColumn, target: WantedColumn, names: NameScore): Scored {
  const { header, kind } = column;
  const nameScore = Math.max(...[target.name, ...target.aliases].map((name) => names.of(header, name)));
  const isOther =
    kind !== null && target.kind !== null && kind !== target.kind && !(target.kind === 'date' && column.isDigits);
  // Text is what any column may be.
  if (isOther && target.kind !== 'text') return { score: nameScore * OTHER_KIND, nameScore, valueScore: 0 };
  const valueScore = valuesOf(column, target);
  if (valueScore !== null) {
    const score = nameScore * (1 - VALUE_WEIGHT) + valueScore * VALUE_WEIGHT;
    // Free texts differ from file to file: columns of one name and kind are the same all the same.
    return { score: nameScore >= SAME_NAME ? Math.max(score, nameScore) : score, nameScore, valueScore };
  }
  const raised =
    kind !== null && kind === target.kind && kind !== 'text' ? nameScore + (1 - nameScore) * SAME_KIND : nameScore;
  return { score: raised, nameScore, valueScore: null };
}

/** The greatest of: values that both have, and shapes that both have; for numbers how far their ranges overlap. */
function valuesOf({ texts, shapes }: KnownColumn, target: WantedColumn): number | null {
  if (texts.length === 0 || target.values === null || target.values.size === 0) return null;
  const overlap = texts.filter((text) => target.values!.has(text)).length / Math.min(texts.length, target.values.size);
  const sameShape = shapes.filter((shape) => target.shapes.has(shape)).length / texts.length;
  return Math.min(1, Math.max(overlap, sameShape, rangeOverlap(texts, target.range)));
}

/** Letters and digits, each run as one: `AB-12` and `XYZ-7` have the same. */
function shapeOf(text: string): string {
  return text.replace(/\p{L}+/gu, 'a').replace(/\d+/g, '9');
}

function rangeOverlap(texts: readonly string[], range: TargetColumn['range']): number {
  const numbers = texts.map(Number).filter((number) => !Number.isNaN(number));
  if (range === null || numbers.length < texts.length || numbers.length === 0) return 0;
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const shared = Math.min(high, range[1]) - Math.max(low, range[0]);
  const whole = Math.max(high, range[1]) - Math.min(low, range[0]);
  return whole === 0 ? 1 : Math.max(0, shared / whole);
}
