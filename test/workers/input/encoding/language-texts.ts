// Short texts like those in exports, written for these tests: names, places, headers, remarks. No table of a language was derived
// from them.

export interface LanguageText {
  readonly language: string;
  /**
   * Encodings in which the text is written, the expected one first. If several encodings decode the text alike, the first one is
   * expected.
   */
  readonly encodings: readonly string[];
  readonly text: string;
}

export const LANGUAGE_TEXTS: readonly LanguageText[] = [
  {
    language: 'German',
    encodings: ['windows-1252', 'macintosh', 'ibm850'],
    text: 'Kunde;Straße;Ort;Bemerkung\nMüller;Hauptstraße 3;Köln;Lieferung täglich\nJürgen Groß;Am Bühl 7;Nürnberg;Rückgabe möglich\nÖzdemir;Übergasse 1;Lübeck;Ärger mit Gebühren\n',
  },
  {
    language: 'German with euro',
    encodings: ['windows-1252', 'iso-8859-15'],
    text: 'Artikel;Preis\nKäse;12,00 €\nBrötchen;0,45 €\nGemüsebrühe;3,20 €\nÄpfel;2,99 €\n',
  },
  {
    language: 'French',
    encodings: ['windows-1252', 'macintosh', 'ibm850'],
    text: 'Prénom,Société,Adresse\nHélène,Générale des Eaux,12 allée des Chênes\nFrançois,Électricité,3 place du Marché\nJérôme,Hôtel Là-bas,À côté de la forêt\n',
  },
  {
    language: 'French with ligatures',
    encodings: ['windows-1252', 'iso-8859-15'],
    text: 'cœur;sœur;œuvre;bœuf\nle prix est de 5 €;très élevé;où;déjà\n',
  },
  {
    language: 'Spanish',
    encodings: ['windows-1252', 'macintosh', 'ibm850', 'ibm437'],
    text: 'Número,Descripción,Año\n1,Camión pequeño,2019\n2,Habitación con baño,2020\n¿Cuándo llegará?,mañana,así\n',
  },
  {
    language: 'Portuguese',
    encodings: ['windows-1252', 'macintosh', 'ibm850'],
    text: 'Código;Descrição;Preço\n1;Pão de açúcar;não disponível\n2;Coração;São João\n3;Informações;três mil\n',
  },
  {
    language: 'Italian',
    encodings: ['windows-1252', 'macintosh', 'ibm850'],
    text: 'Città;Attività\nForlì;perché è così\nCefalù;qualità e quantità\nnon può;più tardi, lunedì\n',
  },
  {
    language: 'Swedish and Danish',
    encodings: ['windows-1252', 'macintosh', 'ibm850'],
    text: 'Namn;Ort\nÅsa Öberg;Malmö\nBjörn Sjögren;Västerås\nSøren Kjær;København\nÆgir Pål;Tromsø\n',
  },
  {
    language: 'Icelandic',
    encodings: ['windows-1252'],
    text: 'Nafn;Staður\nGuðrún Þórðardóttir;Reykjavík\nJón Sigurðsson;Ísafjörður\nÞað er ekki það sama;við erum að fara\n',
  },
  { language: 'one letter', encodings: ['windows-1252'], text: 'name,city\nRené,Lyon\n' },
  {
    language: 'Polish',
    encodings: ['windows-1250', 'iso-8859-2'],
    text: 'Imię;Nazwisko;Ulica\nŁukasz;Wójcik;Świętokrzyska\nMałgorzata;Dąbrowska;Żeromskiego\nzażółć gęślą jaźń;proszę;ćwierć\n',
  },
  {
    language: 'Czech',
    encodings: ['windows-1250', 'iso-8859-2'],
    text: 'Jméno,Příjmení,Město\nJiří,Dvořák,Plzeň\nLucie,Nováková,České Budějovice\nŽofie,Šťastná,Ústí nad Labem\nvěc,dům,když,těžký\n',
  },
  {
    language: 'Hungarian',
    encodings: ['windows-1250', 'iso-8859-2'],
    text: 'Név;Város\nSzabó István;Győr\nKovácsné Erzsébet;Székesfehérvár\nfőnök;gyümölcs\nűrhajó;külön költség\n',
  },
  {
    language: 'Croatian',
    encodings: ['windows-1250', 'iso-8859-2'],
    text: 'Ime;Prezime;Grad\nŽeljko;Kovačević;Đakovo\nDražen;Šimić;Čakovec\nriječ;kuća;noć;što\n',
  },
  {
    language: 'Russian',
    encodings: ['windows-1251', 'koi8-r', 'ibm866'],
    text: 'Имя;Город;Сумма\nИванов Иван;Москва;100\nПетрова Анна;Санкт-Петербург;250\nпоставка товаров по договору;оплачено\n',
  },
  {
    language: 'Russian in capitals',
    encodings: ['windows-1251', 'koi8-r', 'ibm866'],
    text: 'НАИМЕНОВАНИЕ;КОЛИЧЕСТВО;ЦЕНА\nСТОЛ ДЕРЕВЯННЫЙ;10;1500\nСТУЛ ОФИСНЫЙ;25;900\nОБЩЕСТВО С ОГРАНИЧЕННОЙ ОТВЕТСТВЕННОСТЬЮ\n',
  },
  {
    language: 'Ukrainian',
    encodings: ['windows-1251', 'koi8-u'],
    text: 'Назва;Місто;Кількість\nЇжак;Київ;5\nҐанок;Львів;12\nєдиний рахунок за послуги;зв’язок\n'.replace('’', "'"),
  },
  {
    language: 'Bulgarian',
    encodings: ['windows-1251'],
    text: 'Име;Град;Сума\nГеорги Димитров;Пловдив;100\nЙорданка Ангелова;Велико Търново;20\nплащане по сметка;получено\n',
  },
  {
    language: 'Greek',
    encodings: ['windows-1253', 'iso-8859-7'],
    text: 'Όνομα;Πόλη\nΓιώργος Παπαδόπουλος;Αθήνα\nΜαρία Νικολάου;Θεσσαλονίκη\nη πληρωμή έγινε σήμερα;ευχαριστώ\n',
  },
  {
    language: 'Turkish',
    encodings: ['windows-1254'],
    text: 'Adı;Şehir;Açıklama\nAyşe Yılmaz;İstanbul;ödeme yapıldı\nÇağrı Şahin;Eskişehir;iade\nGülşen Doğan;Iğdır;müşteri kaydı\n',
  },
  {
    language: 'Lithuanian',
    encodings: ['windows-1257'],
    text: 'Vardas;Miestas\nŽydrūnas;Šiauliai\nJūratė;Panevėžys\nmokėjimas už paslaugas;ačiū labai\nįmonė;ąžuolas;tęsinys\n',
  },
  {
    language: 'Latvian',
    encodings: ['windows-1257'],
    text: 'Vārds;Pilsēta\nJānis Bērziņš;Liepāja\nĢirts Kalniņš;Jēkabpils\nmaksājums par pakalpojumiem;rēķins\nšķērsiela;ļoti\n',
  },
  {
    language: 'Hebrew',
    encodings: ['windows-1255'],
    text: 'שם,עיר\nיוסי כהן,תל אביב\nרחל לוי,ירושלים\nתשלום עבור שירות,התקבל\n',
  },
  {
    language: 'Arabic',
    encodings: ['windows-1256'],
    text: 'الاسم,المدينة\nمحمد علي,القاهرة\nفاطمة حسن,بغداد\nدفع مقابل الخدمات,تم الاستلام\n',
  },
  {
    language: 'Thai',
    encodings: ['windows-874'],
    text: 'ชื่อ,จังหวัด\nสมชาย ใจดี,กรุงเทพมหานคร\nสุดา รักไทย,เชียงใหม่\nชำระเงินค่าสินค้าแล้ว,ขอบคุณ\n',
  },
  {
    language: 'Japanese',
    encodings: ['shift_jis', 'euc-jp'],
    text: '氏名,住所,備考\n山田太郎,東京都千代田区,お支払い済み\n佐藤花子,大阪市北区,キャンセル\n株式会社サンプル,名古屋市,ありがとうございます\n',
  },
  {
    language: 'Japanese of a bank',
    encodings: ['shift_jis'],
    text: '1,ﾔﾏﾀﾞ ﾀﾛｳ,ﾐｽﾞﾎ\n2,ｻﾄｳ ﾊﾅｺ,ﾄｳｷﾖｳ\n3,ｶ)ｻﾝﾌﾟﾙ,ﾌﾘｺﾐ\n',
  },
  {
    language: 'Chinese, simplified',
    encodings: ['gb18030'],
    text: '姓名,城市,金额\n张伟,北京,100\n王芳,上海,250\n深圳市科技有限公司,广东省,订单已经完成\n我们的产品质量很好,谢谢\n',
  },
  {
    language: 'Chinese, traditional',
    encodings: ['big5'],
    text: '姓名,城市,金額\n陳大文,香港,100\n林美玲,臺北市,250\n股份有限公司,高雄,訂單已經完成\n我們的產品品質很好,謝謝\n',
  },
  {
    language: 'Korean',
    encodings: ['euc-kr'],
    text: '이름,도시,금액\n김철수,서울특별시,100\n이영희,부산광역시,250\n주식회사 한국상사,경기도,결제가 완료되었습니다\n감사합니다,배송 준비\n',
  },
];
