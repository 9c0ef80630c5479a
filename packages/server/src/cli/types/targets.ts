/** Packages whose functions get the types. */
export const targets = ['@openfeature/server-sdk', '@openfeature/web-sdk', '@halyard/react'] as const
export type Target = (typeof targets)[number]
