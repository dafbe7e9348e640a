// Charts as SVG: horizontal bars with their values and spreads and the physical limit as a line, or lines over sizes.
import { AS_FAST, type Bar, type Chart, type LimitLine, type Line } from './section.ts';

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

const SLOWER_COLOUR = '#c0392b';
const SPREAD_COLOUR = '#1f2933';
const LINE_COLOURS = [OWN_COLOUR, '#3b6ea5', '#b3541e', '#7b4fa3'];
const LINES_HEIGHT = 300;

export function chartSvg(title: string, chart: Chart): string {
  return chart.lines === undefined ? barsSvg(title, chart) : linesSvg(title, chart.unit, chart.lines);
}

function barsSvg(title: string, chart: Chart): string {
  const { unit, bars, limit, longest = Number.POSITIVE_INFINITY } = chart;
  const height = TOP + bars.length * ROW_HEIGHT + BOTTOM;
  const values = bars.flatMap(({ value, samples }) => [value, ...samples]);
  const most = Math.min(longest, Math.max(...values, limit?.value ?? 0));
  const labelWidth = Math.max(LABEL_WIDTH_MIN, ...bars.map(({ label }) => Math.ceil(label.length * CHARACTER_WIDTH)));
  const room = WIDTH - labelWidth - VALUE_WIDTH;
  const length = (value: number): number => Math.round((Math.min(value, most) / most) * room * 10) / 10;
  const rows = bars.map((bar, index) => {
    const { label, value, samples } = bar;
    const top = TOP + index * ROW_HEIGHT;
    const baseline = top + BAR_HEIGHT - 5;
    const end = labelWidth + length(Math.max(value, ...samples)) + 6;
    return [
      text(labelWidth - 8, baseline, label, 'end'),
      `<rect x="${labelWidth}" y="${top}" width="${length(value)}" height="${BAR_HEIGHT}" fill="${colourOf(bar, chart)}"/>`,
      ...(samples.length < 2 ? [] : [spread(bar, top, (at) => labelWidth + length(at))]),
      text(end, baseline, shown(value), 'start'),
    ].join('\n');
  });
  const marks = limit === null ? [] : [limitLine(limit, labelWidth + length(limit.value), height)];
  return framed(`${title} (${unit})`, height, [...rows, ...marks]);
}

/** Red marks a result of ours that is worse than the best of the others, or than the limit if there are no others. */
function colourOf({ ours, value }: Bar, { bars, better, limit }: Chart): string {
  if (!ours) return PEER_COLOUR;
  const others = bars.filter((bar) => !bar.ours).map((bar) => bar.value);
  if (others.length === 0)
    return limit !== null && limit.label === AS_FAST && value < limit.value ? SLOWER_COLOUR : OWN_COLOUR;
  const isWorse = better === 'more' ? value < Math.max(...others) : value > Math.min(...others);
  return isWorse ? SLOWER_COLOUR : OWN_COLOUR;
}

/** The spread of the rounds: a line from the least to the most. */
function spread({ samples }: Bar, top: number, xOf: (value: number) => number): string {
  const y = top + BAR_HEIGHT / 2;
  const [least, most] = [xOf(Math.min(...samples)), xOf(Math.max(...samples))];
  const ends = [least, most].map((x) => `M${x} ${y - 4}V${y + 4}`).join('');
  return `<path d="M${least} ${y}H${most}${ends}" stroke="${SPREAD_COLOUR}" fill="none"/>`;
}

/** Values over sizes: both axes are logarithmic, and start at a power of ten. */
function linesSvg(title: string, unit: string, lines: readonly Line[]): string {
  const points = lines.flatMap((line) => line.points);
  const xAxis = axisOf(points.map(({ megabytes }) => megabytes));
  const yAxis = axisOf(points.map(({ value }) => value));
  const [left, right, bottom] = [60, WIDTH - LABEL_WIDTH_MIN, TOP + LINES_HEIGHT];
  const xOf = (megabytes: number): number => round(left + xAxis.shareOf(megabytes) * (right - left));
  const yOf = (value: number): number => round(bottom - yAxis.shareOf(value) * LINES_HEIGHT);
  const drawn = lines.map(({ label, points: own }, index) => {
    const colour = LINE_COLOURS[index % LINE_COLOURS.length]!;
    const path = own.map(({ megabytes, value }) => `${xOf(megabytes)},${yOf(value)}`).join(' ');
    return [
      `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      `<rect x="${right + 12}" y="${TOP + index * ROW_HEIGHT}" width="12" height="12" fill="${colour}"/>`,
      text(right + 30, TOP + index * ROW_HEIGHT + 11, label, 'start'),
    ].join('\n');
  });
  const ticks = [
    ...xAxis.ticks.map((size) => text(xOf(size), bottom + 18, `${shown(size)} MB`, 'middle')),
    ...yAxis.ticks.map((value) => text(left - 8, yOf(value) + 4, shown(value), 'end')),
    ...yAxis.ticks.map((value) => `<path d="M${left} ${yOf(value)}H${right}" stroke="#e4e7eb"/>`),
  ];
  return framed(`${title} (${unit})`, bottom + BOTTOM, [...ticks, ...drawn]);
}

interface Axis {
  readonly ticks: readonly number[];
  /** Place of a value between the ends of the axis, from 0 to 1. */
  shareOf(value: number): number;
}

function axisOf(values: readonly number[]): Axis {
  const from = Math.floor(Math.log10(Math.min(...values)));
  const to = Math.max(from + 1, Math.ceil(Math.log10(Math.max(...values))));
  const ticks = Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index));
  return { ticks, shareOf: (value) => (Math.log10(value) - from) / (to - from) };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function framed(title: string, height: number, content: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12" fill="#1f2933">`,
    // For screen readers.
    `<title>${escaped(title)}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    `<text x="8" y="22" font-size="14" font-weight="bold">${escaped(title)}</text>`,
    ...content,
    '</svg>\n',
  ].join('\n');
}

function limitLine({ label, value }: LimitLine, x: number, height: number): string {
  return [
    `<line x1="${x}" y1="${TOP - 6}" x2="${x}" y2="${height - BOTTOM}" stroke="${LIMIT_COLOUR}" stroke-dasharray="4 3"/>`,
    `<text x="${x}" y="${height - 8}" text-anchor="end" fill="${LIMIT_COLOUR}">${escaped(`${label}: ${shown(value)}`)}</text>`,
  ].join('\n');
}

function text(x: number, y: number, content: string, anchor: 'start' | 'middle' | 'end'): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}">${escaped(content)}</text>`;
}

function shown(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(2);
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
