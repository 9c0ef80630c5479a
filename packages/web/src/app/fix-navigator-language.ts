/**
 * Without a system locale, Chromium reports a language that `Intl` rejects (`en-US@posix`). The chart library passes
 * it on when it loads and would throw.
 */
export function fixNavigatorLanguage(): void {
  try {
    Intl.getCanonicalLocales(navigator.language)
  } catch {
    Object.defineProperty(navigator, 'language', { value: 'en', configurable: true })
  }
}
