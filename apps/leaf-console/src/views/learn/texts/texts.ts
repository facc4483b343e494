import type { Language } from '../../../i18n/messages';
import type { RuleName } from '../scenes';
import { en, type LearnTexts, type RuleTexts } from './en';
import { rulesEn } from './rules-en';
import { rulesZh } from './rules-zh';
import { zh } from './zh';

export interface LearnLanguage {
  readonly t: LearnTexts;
  readonly rules: Readonly<Record<RuleName, RuleTexts>>;
}

export const LEARN_TEXTS: Readonly<Record<Language, LearnLanguage>> = {
  en: { t: en, rules: rulesEn },
  zh: { t: zh, rules: rulesZh },
};
