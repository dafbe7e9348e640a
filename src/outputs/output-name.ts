// The name of an output's file: the Template's pattern with its name and the Run's id, safe as a file name anywhere.
import type { CatalogTemplate } from '../catalog/catalog.ts';

/** What the service itself needs of a checked Template. */
export interface CheckedTemplate {
  /** Pattern with {template} and {run}. */
  readonly output: { readonly name: string };
  /** Of the memory budget, for each Run. */
  readonly reservationBytes: number;
}

/** Refused in file names by one system or another. */
const UNSAFE_CHARACTERS = /[\p{C}\\/:*?"<>|]/gu;

/** Before the ending, in characters: file systems allow 255 bytes. */
const NAME_CHARACTERS_MAX = 80;

/** @param ending without the dot */
export function outputName(template: CatalogTemplate<CheckedTemplate>, runId: string, ending: string): string {
  const title = template.name ?? template.id;
  const short = [...title].slice(0, NAME_CHARACTERS_MAX - runId.length).join('');
  const name = template.checked.output.name.replaceAll('{template}', () => short).replaceAll('{run}', () => runId);
  const safe = [...name.replace(UNSAFE_CHARACTERS, '_').trim()].slice(0, NAME_CHARACTERS_MAX).join('') || runId;
  return safe.toLowerCase().endsWith(`.${ending}`) ? safe : `${safe}.${ending}`;
}

/** Rejected rows are CSV, whatever the output is. */
export const REJECTS_MIME_TYPE = 'text/csv';

/** The name of the file of rejected rows beside an output. */
export function rejectsName(output: string): string {
  return `${output.replace(/\.[^.]*$/, '')}-rejects.csv`;
}

/** Stands in for an id, which has its length and, like it, nothing that a file name may not have. */
const ID_PLACE = `run_${'0'.repeat(26)}`;

/** The names of a Template differ in the Run's id alone: what stands around it is made once. */
export class OutputNames {
  /** By ending, the name cut where the id goes. Objects of the catalog never change: a new catalog brings new ones. */
  #pieces = new WeakMap<CatalogTemplate<CheckedTemplate>, { readonly ending: string; readonly pieces: string[] }>();

  /** As outputName. */
  of(template: CatalogTemplate<CheckedTemplate>, runId: string, ending: string): string {
    const known = this.#pieces.get(template);
    if (known !== undefined && known.ending === ending) return known.pieces.join(runId);
    const pieces = outputName(template, ID_PLACE, ending).split(ID_PLACE);
    // Where the id was cut short, it is not found again.
    const name = outputName(template, runId, ending);
    if (pieces.join(runId) === name) this.#pieces.set(template, { ending, pieces });
    return name;
  }
}
