// Scores how well `--like` finds the intended columns: pairs from the headers of public exports. The held-back half was
// not used when the matcher was tuned; its scores count.
import { readFileSync } from 'node:fs';
import { ColumnProfile } from '../src/drafts/column-profile.ts';
import {
  type ColumnKind,
  matchColumns,
  type SampleColumn,
  type TargetColumn,
} from '../src/drafts/like/match-columns.ts';
import { compiledForms } from '../src/drafts/typed-cells.ts';

const FOLDER = 'bench/like-pairs';

export interface LikeScore {
  /** Number of annotated pairs. */
  readonly pairs: number;
  readonly active: number;
  readonly right: number;
  /** Wrong or missing pairs, for reading. */
  readonly mistakes: readonly string[];
}

export function scoreLikes(): Record<string, number> {
  const scores: Record<string, number> = {};
  for (const half of ['tuned', 'held-back']) {
    const { pairs, active, right, mistakes } = likeScore(half);
    console.log(`--like, ${half}: ${pairs} pairs, ${active} active matches, ${right} of them right`);
    if (half === 'tuned') console.log(mistakes.join('\n'));
    if (half === 'tuned') continue;
    scores['like, precision of active matches'] = round(right / active);
    scores['like, recall'] = round(right / pairs);
    scores['like, pairs held back'] = pairs;
  }
  return scores;
}

export function likeScore(half: string): LikeScore {
  const targets = new Map(sections('targets').map(([name, lines]) => [name, lines.map((line) => targetOf(line))]));
  let [pairs, active, right] = [0, 0, 0];
  const mistakes: string[] = [];
  for (const [title, lines] of sections(half)) {
    const [name, kind] = title.split(': ') as [string, string];
    const wanted = targets.get(kind)!;
    const rows = lines.map((line) => line.split('|') as [string, string, string]);
    const sample = rows.map(([header, cell]) => sampleColumn(header, cell));
    pairs += rows.filter(([, , meant]) => meant !== '-').length;
    const matches = matchColumns(sample, wanted);
    for (const match of matches.filter(({ isAccepted }) => isAccepted)) {
      active++;
      const [header, , meant] = rows[match.sample]!;
      if (wanted[match.target]!.name === meant) right++;
      else mistakes.push(`${name}: ${header} is ${meant}, not ${wanted[match.target]!.name}`);
    }
    for (const [at, [header, , meant]] of rows.entries()) {
      const found = matches.find((match) => wanted[match.target]!.name === meant);
      if (meant === '-' || (found?.sample === at && found.isAccepted)) continue;
      mistakes.push(
        `${name}: ${header} is not found as ${meant} (${found?.score.toFixed(2)}, next ${found?.next.toFixed(2)})`,
      );
    }
  }
  return { pairs, active, right, mistakes };
}

function sections(file: string): [string, string[]][] {
  const text = readFileSync(`${FOLDER}/${file}.txt`, 'utf8').replace(/^#.*\n/gm, '');
  return text
    .split(/^> /m)
    .slice(1)
    .map((section) => {
      const [title, ...lines] = section.trim().split('\n');
      return [title!, lines];
    });
}

function targetOf(line: string): TargetColumn {
  const [name, kind] = line.split(' ') as [string, ColumnKind];
  return { name, aliases: [], kind, values: null, range: null };
}

function sampleColumn(header: string, cell: string): SampleColumn {
  const profile = new ColumnProfile(compiledForms());
  profile.add(cell);
  return { header, profile };
}

function round(share: number): number {
  return Math.round(share * 1000) / 1000;
}
