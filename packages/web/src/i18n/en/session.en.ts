/** Messages of signing in and signing up. */
export const session = {
  signIn: {
    showPassword: 'Show password',
    title: 'Sign in to Halyard',
    email: 'Email',
    password: 'Password',
    stay: 'Stay signed in for 30 days',
    submit: 'Sign in',
    expired: 'Session expired. Sign in to continue.',
    firstOwner:
      'The first start of the server prints the owner’s email and password. Everyone else is invited by an admin. To reset a password, run this in Halyard’s folder on the server:',
    resetCommand: 'npm run halyard -- users reset-password --email you@example.com',
    firstOwnerTitle: 'Need an account?',
    wrong: 'Wrong email or password',
    wrongPassword: 'Wrong password',
    againTitle: 'Session expired',
    again: (email: string) => `Sign in as ${email} to continue. Nothing you typed is lost.`,
    otherUser: 'Sign in as someone else',
    signOut: 'Sign out',
    or: 'or',
    sso: 'Use single sign-on',
    ssoWith: (provider: string) => `Continue with ${provider}`,
    ssoEmailFirst: 'Enter your email address first.',
    ssoNone: (domain: string) => `No identity provider is set up for ${domain}. Sign in with your password.`,
  },
  signUp: {
    title: (organization: string) => `Join ${organization}`,
    intro: (email: string) => `You’ve been invited as ${email}.`,
    firstName: 'Name',
    password: 'Password',
    passwordHint: 'At least 8 characters',
    submit: 'Create account',
    join: (name: string) => `Join as ${name}`,
    toSignIn: 'Go to sign-in',
    goneTitle: 'Invitation not found',
    gone: 'This invitation doesn’t exist or has expired. Ask an admin for a new one.',
  },
}

export type SessionMessages = typeof session
