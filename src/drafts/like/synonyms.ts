// Words that mean the same in the headers of exports, a meaning a line. Only words that are hardly used for anything else: what is
// missing here costs a proposal, what is wrong here makes one.

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

/** The lines of the table in which a phrase stands. */
export function meanings(): ReadonlyMap<string, ReadonlySet<number>> {
  const lines = new Map<string, Set<number>>();
  for (const [line, phrases] of SYNONYMS.entries()) {
    for (const phrase of phrases.split(' ')) lines.set(phrase, (lines.get(phrase) ?? new Set()).add(line));
  }
  return lines;
}
