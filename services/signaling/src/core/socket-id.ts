/** A socket of this pod, numbered by the shell; never used again after its close. */
export type SocketId = number;
