import type { Issue } from '@halyard/engine'

/** Messages that every feature uses. */
export const general = {
  common: {
    cancel: 'Cancel',
    save: 'Save',
    create: 'Create',
    remove: 'Remove',
    close: 'Close',
    copy: 'Copy',
    copied: 'Copied',
    undo: 'Undo',
    loading: 'Loading',
    retry: 'Try again',
    somethingWrong: 'Something went wrong',
    offline: 'You are offline. Your edits are kept.',
    unreachable: 'Can’t reach the server. Check your connection and try again.',
    loadFailed: 'Part of the page couldn’t be loaded. Reload the page to continue.',
    reload: 'Reload page',
    notFound: 'Page not found',
    notFoundText: 'It may have been deleted, or you don’t have access to its project.',
    backToHome: 'Back to home',
    skipToContent: 'Skip to content',
    none: 'None',
    any: 'Any',
    never: 'Never',
    moreActions: 'More actions',
    breadcrumbs: 'Breadcrumbs',
    helpFor: (label: string) => `Help: ${label}`,
    learnMore: 'Learn more',
    viewOnly: 'You can view this project, not change it',
    viewOnlyText: 'Ask an admin of the organization to make you a member.',
  },
  /**
   * Server errors by code, or by code and field. The server's messages are English, so that only a message which names an
   * API field needs a replacement here.
   */
  problems: {
    'invalid_input scheduled_at': () => 'Choose a time in the future',
    'invalid_input is_required': () => 'Sign in with a provider once, and add a second factor to your account first',
  } as Readonly<Record<string, (message: string) => string>>,
  /** The same for validation issues of the engine. */
  issues: {} as Readonly<Partial<Record<Issue['code'], string>>>,
  validation: {
    required: 'Fill in this field',
    email: 'Enter a valid email address',
    url: 'Enter an address that starts with https://',
    tooShort: (count: number) => `Enter at least ${count} characters`,
  },
  pagination: {
    range: (from: number, to: number, count: number) => `${from}–${to} of ${count}`,
    previous: 'Previous',
    next: 'Next',
  },
  secrets: {
    once: 'Copy it now. You won’t be able to see it again.',
  },
}

export type GeneralMessages = typeof general
