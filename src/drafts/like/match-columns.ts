// Matches the columns of a sample to the columns of a target by name and by cells, so that the sum of all scores is
// greatest.

import { headerKey } from '../../../workers/template/file-columns.ts';
import { snakeCase } from '../column-names.ts';
import type { ColumnProfile } from '../column-profile.ts';

// A wanted column as far as the target describes it, and the kind of a column of a sample.

export type ColumnKind = 'number' | 'date' | 'text';

export interface TargetColumn {
  readonly name: string;
  /** Other names that files use for this column. */
  readonly aliases: readonly string[];
  /** Null: the target does not specify the kind. */
  readonly kind: ColumnKind | null;
  /** Cell values, or the allowed values; null: no values to compare. */
  readonly values: ReadonlySet<string> | null;
  /** Minimum and maximum of its numbers. */
  readonly range: readonly [number, number] | null;
}

/** Share of a column's cells that must be of one kind for the column to be of that kind. */
const KIND_SHARE = 0.8;

/** Null: the column is blank. */
export function kindOf({ valueCells, numbers, dates, nativeNumbers }: ColumnProfile): ColumnKind | null {
  if (valueCells === 0) return null;
  const [date] = dates.readings;
  const reads = Math.max(numbers.marks['.'].reads, numbers.marks[','].reads);
  // A date that consists of eight digits only counts as a number.
  if (date !== undefined && date.form.guess !== 'digits' && date.reads >= valueCells * KIND_SHARE) return 'date';
  if (nativeNumbers + reads >= valueCells * KIND_SHARE && numbers.leadingZeros === 0) return 'number';
  return 'text';
}

function isDigits({ dates, valueCells }: ColumnProfile): boolean {
  return dates.readings.some(({ form, reads }) => form.guess === 'digits' && reads === valueCells);
}

// Synonyms found in the headers of exports, one meaning per line. Contains only words that are rarely used with
// another meaning: a missing word costs a proposal, a wrong word produces a wrong proposal.

/** Phrases in snake case, as columnNames writes headers. */
export const SYNONYMS: readonly string[] = [
  // Bookings
  'booked_on booking_date booked_date buchungstag buchungsdatum buchung posting_date post_date transaction_date transaktionsdatum date_of_transaction data_contabile data_operazione fecha_operacion fecha_de_operacion date_operation date_de_l_operation date_op transactiedatum boekdatum boekingsdatum data_operacji date datum fecha data dato trade_date paid_at ordered_at day tag',
  'value_date valued_on valuta valutadatum wertstellung wertstellungsdatum wertstellung_valuta wert date_de_valeur date_valeur date_val fecha_valor f_valor data_valuta rentedatum valutadag interest_date',
  'party payee payer counterparty_name counterparty beneficiary empfaenger auftraggeber auftraggeber_empfaenger beguenstigter_auftraggeber beguenstigter_zahlungspflichtiger zahlungsempfaenger zahlungsempfaenger_in zahlungspflichtiger name_zahlungsbeteiligter zahlungsbeteiligter partner_name naam_tegenpartij tegenpartij name_of_counterparty beneficiario tiers recipient merchant vendor_name',
  'iban partner_iban kontonummer_iban iban_kontonummer iban_zahlungsbeteiligter tegenrekening tegenrekening_iban_bban counterparty_iban account_number_of_counterparty',
  'purpose verwendungszweck payment_reference remittance_information reference_text memo narrative libelle concepto causale omschrijving mededelingen zahlungsgrund details_of_payment communication description descripcion descrizione',
  'amount betrag umsatz montant importe importo bedrag transactiebedrag belopp beloeb kwota montant_de_l_operation betrag_eur umsatz_eur amount_eur gross',
  'balance saldo kontostand solde running_balance running_bal account_balance accountbalance balance_after saldo_nach_buchung saldo_na_trn eindsaldo disponible',
  'currency waehrung devise divisa moneda munt muntsoort valuta_code currency_code wkz net_currency',
  // Orders
  'order_id order_number order_no order order_nr bestellnummer bestell_nr auftragsnummer auftrags_nr numero_de_pedido numero_de_commande ordernummer bestelnummer amazon_order_id',
  'ordered_at order_date bestelldatum sale_date purchase_date fecha_del_pedido date_de_commande orderdatum besteldatum created_at date datum paid_at',
  'customer_name customer client kunde kundenname buyer_name buyer billing_name full_name nombre_del_cliente nom_du_client klant klantnaam cliente recipient_name',
  'email e_mail email_address e_mail_address e_mail_adresse mail e_mailadres emailadres correo_electronico correo adresse_e_mail courriel customer_email buyer_email billing_email billing_email_address e_mail_1_value',
  'street strasse street_address address address_1 address_line_1 adresse straat direccion indirizzo billing_street mailing_street shipping_street street_1 business_street rue',
  'zip zip_code zipcode postal_code postcode post_code plz postleitzahl code_postal codigo_postal cap billing_zip mailing_postal_code ship_postal_code ship_zipcode shipping_zip business_postal_code',
  'city town ort stadt ville ciudad citta plaats woonplaats billing_city mailing_city ship_city shipping_city business_city',
  'country land pays pais paese country_region country_code billing_country mailing_country ship_country shipping_country business_country_region',
  'sku item_sku lineitem_sku variant_sku article_number artikelnummer artikel_nr artikelnr item_number product_code mpn referencia_del_producto',
  'quantity qty menge anzahl cantidad quantite aantal quantita lineitem_quantity quantity_purchased stueckzahl pieces',
  'price unit_price preis einzelpreis stueckpreis vk_preis verkaufspreis prix precio prezzo prijs item_price item_cost lineitem_price variant_price regular_price',
  'total order_total grand_total gesamt gesamtbetrag gesamtsumme summe total_amount order_total_amount total_price importe_total montant_total totaal',
  // People
  'first_name firstname given_name vorname prenom nombre nome voornaam forename',
  'last_name lastname surname family_name nachname familienname nom nom_de_famille apellido apellidos cognome achternaam',
  'phone telephone phone_number telefon telefonnummer tel mobile_phone mobile telephone_number telefono telefoon telefoonnummer handy phone_1_value',
  'company company_name organization organisation organization_name account_name firma unternehmen societe entreprise empresa azienda bedrijf bedrijfsnaam',
  'birth_date date_of_birth birthday birthdate geburtsdatum geburtstag date_de_naissance fecha_de_nacimiento data_di_nascita geboortedatum',
  // Payments
  'transaction_id transaktions_id transaktionsnummer transaction_code payment_id txn_id id_transaction balance_transaction_id',
  'paid_at payment_date payout_date date datum created created_utc zahlungsdatum transaction_date',
  'type transaction_type typ art transaktionstyp kind',
  'status state transaction_status zustand payment_status',
  'gross gross_amount gross_sales brutto bruttobetrag total_amount',
  'fee fees gebuehr gebuehren entgelt commission commissions kosten_der_zahlung',
  'net net_amount net_total netto nettobetrag',
  'description beschreibung beschreibungstext details descripcion descrizione omschrijving',
  // Advertising
  'campaign campaign_name kampagne kampagnenname campagne campana',
  'day tag date datum jour dia report_date start_date start_date_in_utc',
  'impressions impression impr impressionen',
  'clicks click klicks link_klicks link_clicks clics',
  'cost costs spend spent total_spent amount_spent amount_spent_eur ausgegebener_betrag ausgegebener_betrag_eur kosten cout',
  'conversions conversion conv konversionen',
  // Products
  'ean gtin barcode ean_code code_ean variant_barcode gtin_ean upc',
  'title product_name titel bezeichnung artikelbezeichnung designation item_name nombre_del_producto name produktname',
  'brand brands marke hersteller marque marca merk manufacturer vendor',
  'category categories kategorie warengruppe categorie categoria product_type product_category',
  'stock inventory bestand lagerbestand lager quantity_in_stock stock_quantity variant_inventory_qty inventory_quantity on_hand stocks',
  'weight gewicht poids peso variant_weight weight_kg gewicht_kg variant_grams',
  // Hours
  'employee employee_name mitarbeiter mitarbeiterin user username medewerker employe empleado worker person',
  'start start_time beginn anfang von begin started_at',
  'end end_time ende bis ended_at stop',
  'hours stunden duration duration_decimal dauer heures horas uren arbeitsstunden',
  'project projekt projet proyecto project_name projekt_name',
  'note notes comment comments bemerkung bemerkungen notiz kommentar remark remarks anmerkung commentaire opmerking description',
];

/** For each phrase, the lines of the table that contain it. */
function meanings(): ReadonlyMap<string, ReadonlySet<number>> {
  const lines = new Map<string, Set<number>>();
  for (const [line, phrases] of SYNONYMS.entries()) {
    for (const phrase of phrases.split(' ')) lines.set(phrase, (lines.get(phrase) ?? new Set()).add(line));
  }
  return lines;
}

// Scores from 0 to 1 how likely two column names have the same meaning: they are identical, differ in spelling only,
// are synonyms, or consist of the same words or letters.

const EXACT = 1;
const LOOSE = 0.97;
const SYNONYM = 0.92;
/** Scores if one name has all words of the other and one or two more, as in `Delivery city`. */
const QUALIFIED = [0.75, 0.74];
/** Common words score lower than equal names, and common letters lower than common words. */
const WORDS = 0.85;
const TRIGRAMS = 0.8;

/** The parts of a name that are compared; computed once, because each name is compared with many. */
interface NameForm {
  readonly loose: string;
  readonly snake: string;
  readonly words: ReadonlySet<string>;
  readonly trigrams: ReadonlySet<string>;
}

export class NameScore {
  readonly #meanings = meanings();
  readonly #forms = new Map<string, NameForm>();

  of(one: string, other: string): number {
    if (one.trim() === other.trim()) return EXACT;
    const [a, b] = [this.#form(one), this.#form(other)];
    if (a.loose === b.loose || a.snake === b.snake) return LOOSE;
    if (this.#areSynonyms(a.snake, b.snake)) return SYNONYM;
    return Math.max(
      qualified(a.words, b.words),
      WORDS * dice(a.words, b.words),
      TRIGRAMS * dice(a.trigrams, b.trigrams),
    );
  }

  #form(name: string): NameForm {
    const known = this.#forms.get(name);
    if (known !== undefined) return known;
    const snake = snakeCase(name);
    const form = { loose: headerKey(name, 'loose'), snake, words: this.#words(snake), trigrams: trigrams(snake) };
    this.#forms.set(name, form);
    return form;
  }

  #areSynonyms(a: string, b: string): boolean {
    const lines = this.#meanings.get(a);
    return lines !== undefined && [...(this.#meanings.get(b) ?? [])].some((line) => lines.has(line));
  }

  /** Words of a name. Each is replaced by its synonym group, so that words of different languages compare equal. */
  #words(name: string): Set<string> {
    return new Set(name.split('_').flatMap((word) => (FILLERS.has(word) ? [] : [this.#meaning(word)])));
  }

  #meaning(word: string): string {
    const [line] = this.#meanings.get(word) ?? [];
    return line === undefined ? word : `meaning ${line}`;
  }
}

/** Words that do not distinguish one column from another. */
const FILLERS = new Set('the of a in de la le du del di der die das des von van number eur usd gbp kg utc'.split(' '));

function qualified(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const [less, more] = one.size <= other.size ? [one, other] : [other, one];
  if (less.size === 0 || ![...less].every((word) => more.has(word))) return 0;
  return QUALIFIED[more.size - less.size - 1] ?? 0;
}

function trigrams(name: string): Set<string> {
  const padded = `  ${name} `;
  return new Set(Array.from({ length: padded.length - 2 }, (_, at) => padded.slice(at, at + 3)));
}

function dice(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  if (one.size === 0 || other.size === 0) return 0;
  let shared = 0;
  for (const item of one) if (other.has(item)) shared++;
  return (2 * shared) / (one.size + other.size);
}

// Assigns columns to rows so that the sum of their values is greatest: the Hungarian method (Kuhn 1955, in the form
// of Jonker and Volgenant with potentials). Takes O(rows² × columns) time.

/**
 * @param weights value of each pair, rows by columns, at least 0. @returns the column of each row, or null for a row
 * without a column (if there are fewer columns than rows)
 */
export function assign(weights: readonly (readonly number[])[]): (number | null)[] {
  const rows = weights.length;
  const columns = weights[0]?.length ?? 0;
  if (rows === 0 || columns === 0) return weights.map(() => null);
  if (rows > columns) return transposed(assign(turned(weights)), rows);
  // Indexes start at 1; row 0 and column 0 mean "unassigned".
  const rowPotential = new Float64Array(rows + 1);
  const columnPotential = new Float64Array(columns + 1);
  const rowOf = new Int32Array(columns + 1);
  const previousColumn = new Int32Array(columns + 1);
  for (let row = 1; row <= rows; row++) {
    rowOf[0] = row;
    const last = shortestPath(weights, { rowPotential, columnPotential, rowOf, previousColumn });
    for (let column = last; column !== 0; ) {
      const before = previousColumn[column]!;
      rowOf[column] = rowOf[before]!;
      column = before;
    }
  }
  return transposed(
    Array.from(rowOf.subarray(1), (row) => (row === 0 ? null : row - 1)),
    rows,
  );
}

interface Potentials {
  readonly rowPotential: Float64Array;
  readonly columnPotential: Float64Array;
  readonly rowOf: Int32Array;
  readonly previousColumn: Int32Array;
}

/** The free column at the end of the shortest augmenting path from the row in `rowOf[0]`. */
function shortestPath(
  weights: readonly (readonly number[])[],
  { rowPotential, columnPotential, rowOf, previousColumn }: Potentials,
): number {
  const columns = columnPotential.length - 1;
  const least = new Float64Array(columns + 1).fill(Number.POSITIVE_INFINITY);
  const used = new Uint8Array(columns + 1);
  let at = 0;
  do {
    used[at] = 1;
    const row = rowOf[at]!;
    let delta = Number.POSITIVE_INFINITY;
    let next = 0;
    for (let column = 1; column <= columns; column++) {
      if (used[column] === 1) continue;
      const cost = -weights[row - 1]![column - 1]! - rowPotential[row]! - columnPotential[column]!;
      if (cost < least[column]!) {
        least[column] = cost;
        previousColumn[column] = at;
      }
      if (least[column]! < delta) {
        delta = least[column]!;
        next = column;
      }
    }
    for (let column = 0; column <= columns; column++) {
      if (used[column] === 1) {
        rowPotential[rowOf[column]!]! += delta;
        columnPotential[column]! -= delta;
      } else least[column]! -= delta;
    }
    at = next;
  } while (rowOf[at] !== 0);
  return at;
}

function turned(weights: readonly (readonly number[])[]): number[][] {
  return weights[0]!.map((_, column) => weights.map((row) => row[column]!));
}

/** Converts "row of each column" to "column of each row". */
function transposed(rowOf: readonly (number | null)[], rows: number): (number | null)[] {
  const columns: (number | null)[] = Array.from({ length: rows }, () => null);
  for (const [column, row] of rowOf.entries()) if (row !== null) columns[row] = column;
  return columns;
}

// Matches the columns of a sample to the columns of a target by name and by cell values. A match is accepted only if
// its score is high and clearly better than every alternative of both columns.

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
  /** Null: one of the two columns has no values to compare. */
  readonly valueScore: number | null;
  /** The best score that either column has with another partner. */
  readonly next: number;
  readonly isAccepted: boolean;
}

const ACCEPTED_MIN = 0.75;
const MARGIN_MIN = 0.15;

/** Matches with a lower score are not even proposed. */
const OFFERED_MIN = 0.45;

/** Weight of the cell values relative to the name, where both can be compared. */
const VALUE_WEIGHT = 0.35;

/** From this name score on, names differ in spelling only. */
const SAME_NAME = 0.97;

/** Factor for columns of different kinds, which hardly ever match. */
const OTHER_KIND = 0.4;
/**
 * Part of the missing score that is added if both columns have the same kind. Kind "text" does not count, because
 * most columns are text.
 */
const SAME_KIND = 0.1;

/**
 * Maximum number of column pairs that are compared (500 by 500), which takes a second on one core and about 30 MB.
 * Above this limit only equal names match.
 */
const PAIRS_MAX = 250_000;

interface Scored {
  readonly score: number;
  readonly nameScore: number;
  readonly valueScore: number | null;
}

/** One match for each target that has a likely column, in the order of the targets. */
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

/** Matches by equal name. A name that occurs twice on either side matches nothing. */
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

/** The parts of a sample column that are compared; computed once, because the column is compared with each target. */
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
  // A target of kind "text" accepts any column.
  if (isOther && target.kind !== 'text') return { score: nameScore * OTHER_KIND, nameScore, valueScore: 0 };
  const valueScore = valuesOf(column, target);
  if (valueScore !== null) {
    const score = nameScore * (1 - VALUE_WEIGHT) + valueScore * VALUE_WEIGHT;
    // Free text differs from file to file, so columns with the same name and kind match even if their values differ.
    return { score: nameScore >= SAME_NAME ? Math.max(score, nameScore) : score, nameScore, valueScore };
  }
  const raised =
    kind !== null && kind === target.kind && kind !== 'text' ? nameScore + (1 - nameScore) * SAME_KIND : nameScore;
  return { score: raised, nameScore, valueScore: null };
}

/** The greatest of three shares: common values, common shapes, and (for numbers) the overlap of the ranges. */
function valuesOf({ texts, shapes }: KnownColumn, target: WantedColumn): number | null {
  if (texts.length === 0 || target.values === null || target.values.size === 0) return null;
  const overlap = texts.filter((text) => target.values!.has(text)).length / Math.min(texts.length, target.values.size);
  const sameShape = shapes.filter((shape) => target.shapes.has(shape)).length / texts.length;
  return Math.min(1, Math.max(overlap, sameShape, rangeOverlap(texts, target.range)));
}

/** Replaces each run of letters and each run of digits by one character: `AB-12` and `XYZ-7` have the same shape. */
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
