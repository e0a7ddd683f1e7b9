#define Q(a) #a
#define D(a) a a
#define E(a) D(D(D(D(a))))
#define F(a) E(E(E(a)))
surface s() { string n = Q(F(abcdefgh)); }
