/** Where Mantine, and so the dashboard, stores the user's choice. */
const storageKey = 'mantine-color-scheme-value'

/** Follows the dashboard's choice, also when it changes in another tab, and the system when there is none. */
export function followColorScheme(root: HTMLElement): void {
  const system = matchMedia('(prefers-color-scheme: dark)')
  const apply = () => {
    const chosen = localStorage.getItem(storageKey)
    const isDark = chosen === 'dark' || (chosen !== 'light' && system.matches)
    // Swagger UI has its dark colors under this class.
    root.classList.toggle('dark-mode', isDark)
    root.classList.toggle('light-mode', !isDark)
  }
  apply()
  system.addEventListener('change', apply)
  addEventListener('storage', apply)
}
