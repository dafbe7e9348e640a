// HTML elements as text. All content is escaped, and there is no other way to create an element.

export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** null and false are left out. */
export type Child = string | number | Html | null | false | readonly Child[];

/** Elements without content and end tag. */
const VOID = new Set(['meta', 'link', 'br']);

/** @param attributes attributes by their names in HTML; null leaves one out */
export function element(name: string, attributes: Readonly<Record<string, string | null>>, ...content: Child[]): Html {
  const written = Object.entries(attributes).map(([key, value]) =>
    value === null ? '' : ` ${key}="${escaped(value)}"`,
  );
  const head = `<${name}${written.join('')}>`;
  return new Html(VOID.has(name) ? head : `${head}${content.map(textOf).join('')}</${name}>`);
}

/** A style element. Browsers read its text without decoding escapes. */
export function styleElement(nonce: string, css: string): Html {
  if (/<\//.test(css)) throw new Error('a style must not hold </');
  return new Html(`<style nonce="${escaped(nonce)}">${css}</style>`);
}

export function textOf(child: Child): string {
  if (child === null || child === false) return '';
  if (child instanceof Html) return child.text;
  return typeof child === 'object' ? child.map(textOf).join('') : escaped(String(child));
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
