// Letters beyond ASCII that languages use, the most frequent first. Orders are those of common letter counts of each
// language; where two letters are about as frequent, either may stand first.

export interface Language {
  /** Lower case. */
  readonly letters: string;
  /** Those that have no lower case, or another one. */
  readonly others?: string;
  /** Its words hold letters of ASCII too. */
  readonly isLatin: boolean;
  /** Where they take turns with consonants in all its words. */
  readonly vowels?: string;
}

const CYRILLIC_VOWELS = 'аеиоуыэюяёіїєъ';
const GREEK_VOWELS = 'αεηιουωάέήίόύώ';

const latin = (letters: string, others = ''): Language => ({ letters, others, isLatin: true });
const other = (letters: string): Language => ({ letters, isLatin: false });
const alphabet = (letters: string, vowels: string): Language => ({ letters, isLatin: false, vowels });

export const LANGUAGES: Readonly<Record<string, Language>> = {
  german: latin('üäößé'),
  french: latin('éèàêçôîùâûœïëæüÿ'),
  spanish: latin('óíáéñúü', 'ªº'),
  portuguese: latin('ãçáéíóõêúâàôü', 'ªº'),
  italian: latin('àèìòùé', 'ªº'),
  nordic: latin('äöåøæéüàô'),
  icelandic: latin('íáðöóéúþæý'),
  dutch: latin('ëéïèüöó'),
  catalan: latin('óàéèíçòúïü', '·'),
  polish: latin('łęąóżśćńź'),
  czech: latin('íáěéřýčžšůúťóďň'),
  slovak: latin('áíčéýžšúľťôňóäďŕĺ'),
  hungarian: latin('áéöóőüíúű'),
  romanian: latin('ăîâşţșț'),
  croatian: latin('čšžćđ'),
  turkish: latin('ıüşğçöâîû', 'İ'),
  lithuanian: latin('ėšųįčžąęūų'),
  latvian: latin('āīēšūņčļžģķ'),
  estonian: latin('äõüöšž'),
  russian: alphabet('оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё', CYRILLIC_VOWELS),
  ukrainian: alphabet('оаниівтерслкудмпяьзгбчйжхцюєїшщфґ', CYRILLIC_VOWELS),
  bulgarian: alphabet('аеиотнрсвлкдпмзгяъбучцжщхйшфюь', CYRILLIC_VOWELS),
  serbian: alphabet('аоиенрстувдкјпмлгзбшчцћхжђњљфџ', CYRILLIC_VOWELS),
  greek: alphabet('αοιετσνηυρπκμλςίόγάδέωήθύχφβώξζψϊϋΐΰ', GREEK_VOWELS),
  hebrew: other('יוהלאמרתשבנםעדחקפכסגטצןזךףץ'),
  arabic: other('اليمونرتبعدسفهكقحجةشصطخذىزضغءثئأإآؤظ'),
  thai: other('านรอกเงมยลวดทตสปบค่ห้ีะัไิจพชใ์ืขแุูโ็ถผซณธำศภญษฟฐ๊'),
};
