// Bar charts as SVG: horizontal bars with their values, and the physical limit as a line.
import type { Chart, LimitLine } from './section.ts';

const WIDTH = 760;
const LABEL_WIDTH_MIN = 180;
/** Approximate width of a character in a label. */
const CHARACTER_WIDTH = 6.5;
const VALUE_WIDTH = 70;
const BAR_HEIGHT = 18;
const ROW_HEIGHT = 26;
const TOP = 40;
const BOTTOM = 26;
const OWN_COLOUR = '#2f6f4f';
const PEER_COLOUR = '#9aa5b1';
const LIMIT_COLOUR = '#b3541e';

export function chartSvg(title: string, { unit, bars, limit, longest = Number.POSITIVE_INFINITY }: Chart): string {
  const height = TOP + bars.length * ROW_HEIGHT + BOTTOM;
  const most = Math.min(longest, Math.max(...bars.map(({ value }) => value), limit?.value ?? 0));
  const labelWidth = Math.max(LABEL_WIDTH_MIN, ...bars.map(({ label }) => Math.ceil(label.length * CHARACTER_WIDTH)));
  const room = WIDTH - labelWidth - VALUE_WIDTH;
  const length = (value: number): number => Math.round((Math.min(value, most) / most) * room * 10) / 10;
  const rows = bars.map(({ label, value, ours }, index) => {
    const top = TOP + index * ROW_HEIGHT;
    const baseline = top + BAR_HEIGHT - 5;
    const colour = ours ? OWN_COLOUR : PEER_COLOUR;
    return [
      text(labelWidth - 8, baseline, label, 'end'),
      `<rect x="${labelWidth}" y="${top}" width="${length(value)}" height="${BAR_HEIGHT}" fill="${colour}"/>`,
      text(labelWidth + length(value) + 6, baseline, shown(value), 'start'),
    ].join('\n');
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12" fill="#1f2933">`,
    // For screen readers.
    `<title>${escaped(`${title} (${unit})`)}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    `<text x="8" y="22" font-size="14" font-weight="bold">${escaped(`${title} (${unit})`)}</text>`,
    ...rows,
    ...(limit === null ? [] : [limitLine(limit, labelWidth + length(limit.value), height)]),
    '</svg>\n',
  ].join('\n');
}

function limitLine({ label, value }: LimitLine, x: number, height: number): string {
  return [
    `<line x1="${x}" y1="${TOP - 6}" x2="${x}" y2="${height - BOTTOM}" stroke="${LIMIT_COLOUR}" stroke-dasharray="4 3"/>`,
    `<text x="${x}" y="${height - 8}" text-anchor="end" fill="${LIMIT_COLOUR}">${escaped(`${label}: ${shown(value)}`)}</text>`,
  ].join('\n');
}

function text(x: number, y: number, content: string, anchor: 'start' | 'end'): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}">${escaped(content)}</text>`;
}

function shown(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(2);
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
