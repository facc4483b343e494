/** Computes the check digits of a text, from what precedes them. */
export interface CheckDigits {
  readonly length: number;
  compute(text: string): string;
}

/** Other characters do not count. */
export const CHECK_DIGITS: Readonly<Record<string, CheckDigits>> = {
  /** ISO/IEC 7812-1, over the digits: detects one wrong digit and most swapped neighbours. */
  luhn: {
    length: 1,
    compute: (text) => {
      const digits = text.replaceAll(/\D/g, '').split('').reverse().map(Number);
      const sum = digits.reduce((total, digit, index) => total + (index % 2 === 0 ? crossSum(2 * digit) : digit), 0);
      return String((10 - (sum % 10)) % 10);
    },
  },
  /** ISO/IEC 7064 MOD 97-10, over digits and Latin letters (A = 10, Z = 35), as in an IBAN. */
  mod97: {
    length: 2,
    compute: (text) => {
      const digits = Array.from(text.replaceAll(/[^\dA-Za-z]/g, ''), (character) => parseInt(character, 36)).join('');
      return String(98n - (BigInt(`${digits}00`) % 97n)).padStart(2, '0');
    },
  },
};

function crossSum(number: number): number {
  return number > 9 ? number - 9 : number;
}
