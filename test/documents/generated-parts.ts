// Parts of a page that are generated from the code, between two comments. The text around them stays unchanged.

const BEGIN = /^<!-- generated: (.+) -->\n/;
const END = '<!-- end -->';

/**
 * The page with these texts in the places that bear their names. Throws where a part has no place or several, a place no end,
 * or where the page has a place for something else.
 */
export function withParts(path: string, page: string, parts: Readonly<Record<string, string>>): string {
  // With a line before it, so that a place may be the first of the page, too.
  const [before = '', ...places] = `\n${page}`.split(/(?<=\n)(?=<!-- generated: )/);
  const left = new Map(Object.entries(parts));
  const written = places.map((place) => {
    const [begin = '', name = ''] = BEGIN.exec(place) ?? [];
    const end = place.indexOf(`\n${END}\n`);
    const text = left.get(name);
    if (text === undefined)
      throw new Error(`${path} has a mark for which nothing is generated: ${place.split('\n')[0]}`);
    if (end < 0) throw new Error(`${path}: the place of "${name}" has no ${END}`);
    left.delete(name);
    return `${begin}\n${text.trim()}\n${place.slice(end)}`;
  });
  for (const name of left.keys()) {
    throw new Error(`${path} has no place for "${name}": write <!-- generated: ${name} --> and ${END}`);
  }
  return [before, ...written].join('').slice(1);
}
