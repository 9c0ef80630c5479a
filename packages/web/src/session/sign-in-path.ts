export const signInPath = '/login'

/** Loads the sign-in page, which leads back to the current one if asked to. */
export function goToSignIn({ isReturning }: { readonly isReturning: boolean }): void {
  const { pathname, search, hash } = window.location
  const next = isReturning && pathname !== '/' ? `?next=${encodeURIComponent(pathname + search + hash)}` : ''
  window.location.replace(signInPath + next)
}
