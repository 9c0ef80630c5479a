export const languages = ['en', 'de'] as const
export type Language = (typeof languages)[number]

export const languageNames: Record<Language, string> = { en: 'English', de: 'Deutsch' }

/** The stored choice if it is supported, else the first supported language of the browser, else English. */
export function chooseLanguage(stored: string | null, preferred: readonly string[]): Language {
  const candidates = stored === null ? preferred : [stored, ...preferred]
  for (const candidate of candidates) {
    const primary = candidate.toLowerCase().split(/[-_@.]/, 1)[0]
    const supported = languages.find(language => language === primary)
    if (supported) return supported
  }
  return 'en'
}
