/**
 * On a system without a locale, Chromium names a language that `Intl` refuses (`en-US@posix`). The library that draws charts believes it
 * when it is loaded, and the page that wants a chart would not come up.
 */
export function fixNavigatorLanguage(): void {
  try {
    Intl.getCanonicalLocales(navigator.language)
  } catch {
    Object.defineProperty(navigator, 'language', { value: 'en', configurable: true })
  }
}
